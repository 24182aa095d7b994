import { useQueryClient } from "@tanstack/react-query";
import { Suspense, useEffect } from "react";
import { useParams } from "wouter";
import { useServer } from "../../data/server.tsx";
import { useInAddress } from "../../data/use-address.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Split } from "../../parts/split.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { lazyView } from "../../parts/view-guard.tsx";
import { EventsPane } from "./events-pane.tsx";
import { RunHeader } from "./run-header.tsx";
import { RunPane } from "./run-pane.tsx";
import { StepPane } from "./step-pane.tsx";
import { TimeSlider } from "./time-slider.tsx";
import { Timeline } from "./timeline.tsx";
import { type Run, useFollowedRun, useRunHead, useSteps } from "./use-run.ts";

const GraphPane = lazyView(async () => ({ default: (await import("./graph-pane.tsx")).GraphPane }));

/** One run: its steps in time or as a graph on the left, and on the right the step that is looked at. */
export function RunView() {
  const { id = "" } = useParams<{ id: string }>();
  const { data: run, error, isPending } = useRunHead(id);
  if (error !== null && run === undefined) {
    return (
      <div className="p-4">
        <Problem error={error} />
      </div>
    );
  }
  if (isPending || run === undefined) return <Loading what="the run" />;
  return <LoadedRun key={run.run_id} run={run} />;
}

function LoadedRun({ run }: { readonly run: Run }) {
  const id = run.run_id;
  const [look, setLook] = useInAddress("look", "timeline");
  const [step, setStep] = useInAddress("step");
  const [written, setWritten] = useInAddress("as_of");
  const asOf = /^\d{1,9}$/.test(written) ? Number(written) : undefined;
  const steps = useSteps(id, { asOf });
  const present = useSteps(id, { enabled: asOf !== undefined });
  const lastSeq = (asOf === undefined ? steps : present).first?.last_seq ?? steps.first?.last_seq;
  const { texts, isLost } = useFollowedRun(id, run, lastSeq);
  useFailedStep(run, step, setStep);
  const { spans, first, more } = steps;
  const isPast = asOf !== undefined && first !== undefined;
  return (
    <>
      <RunHeader run={run} step={step} isLost={isLost} />
      <Split
        label="Between the steps and the step"
        left={
          <>
            <Tabs
              label="Ways to look at the run"
              value={look}
              onPick={setLook}
              tabs={[
                ["timeline", "Timeline"],
                ["graph", "Graph"],
                ["events", "Events"],
              ]}
            />
            {lastSeq !== undefined && (
              <TimeSlider
                asOf={asOf}
                lastSeq={lastSeq}
                state={isPast ? first : undefined}
                onChange={(seq) => setWritten(seq === undefined ? "" : String(seq))}
              />
            )}
            {steps.error !== null && <Problem error={steps.error} />}
            {look === "events" ? (
              <EventsPane
                runId={id}
                asOf={asOf}
                onSelect={setStep}
                onTravel={(seq) => setWritten(String(seq))}
                lastSeq={lastSeq ?? 0}
              />
            ) : look === "graph" ? (
              <Suspense fallback={<Loading what="the graph" />}>
                <GraphPane run={run} spans={spans} selected={step} onSelect={setStep} />
              </Suspense>
            ) : steps.isPending ? (
              <Loading what="its steps" />
            ) : (
              <Timeline
                run={run}
                spans={spans}
                selected={step}
                onSelect={setStep}
                asOf={asOf}
                atMs={isPast ? Date.parse(first.at) : undefined}
                onEnd={more}
              />
            )}
          </>
        }
        right={
          step === "" ? (
            <RunPane run={run} />
          ) : (
            <StepPane
              key={step}
              run={run}
              path={step}
              asOf={asOf}
              texts={texts}
              onSelect={setStep}
              onClose={() => setStep("")}
            />
          )
        }
      />
    </>
  );
}

/** A failed run opens on the step that has failed: of a fan-out on its first failed item. */
function useFailedStep(run: Run, step: string, setStep: (path: string) => void): void {
  const { client } = useServer();
  const queries = useQueryClient();
  const hasFailed = run.status === "failed" || run.status === "partial" || run.status === "budget_exceeded";
  // biome-ignore lint/correctness/useExhaustiveDependencies: see its end
  useEffect(() => {
    // What failed outside of the steps is told above them, and no step is to blame.
    if (!hasFailed || step !== "" || run.failed_path === null) return;
    let isStale = false;
    const find = async () => {
      const id = run.run_id;
      const call = (under?: string) =>
        queries.fetchQuery({
          queryKey: ["failed steps", id, under],
          queryFn: () =>
            client.call("GET /runs/{id}/steps", { id, status: "failed", limit: 50, ...(under && { under }) }),
        });
      const { items } = await call();
      const failed =
        items.find(({ kind, error }) => error !== null && kind === "task") ?? items.find(({ error }) => error !== null);
      const inside =
        failed?.items == null ? undefined : (await call(failed.path)).items.find(({ error }) => error !== null);
      const path = inside?.path ?? failed?.path;
      if (!isStale && path !== undefined) setStep(path);
    };
    find().catch(() => undefined);
    return () => {
      isStale = true;
    };
    // Only when the page is opened, and when the run fails: who has closed the step wants to see the run.
  }, [hasFailed, run.run_id]);
}
