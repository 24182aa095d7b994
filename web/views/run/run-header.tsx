import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useDo } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { AskFirst } from "../../parts/dialog.tsx";
import { useKeys } from "../../parts/keys.ts";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { Cost, Duration, Id, Time, toUsdText } from "../../parts/values.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import { hasEnded, type Run } from "./use-run.ts";

interface RunHeaderProps {
  readonly run: Run;
  /** The path of the step that is looked at; empty: none. */
  readonly step: string;
  readonly isLost: boolean;
}

/** What the run is, how it is, where it comes from, and what can be done with it. */
export function RunHeader({ run, step, isLost }: RunHeaderProps) {
  const { run_id: id, workflow_name: workflow, status, error } = run;
  const isHeld = error !== null && run.completed_at === null;
  const wait = run.place_wait ?? run.budget_wait;
  return (
    <header className="border-b border-line bg-surface px-3 py-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="min-w-0 max-w-full truncate text-base font-semibold" title={workflow}>
          <Link href="/runs" className="text-soft underline">
            Runs
          </Link>{" "}
          / {workflow}
        </h1>
        <Status status={isHeld ? "held" : status} />
        {run.not_driven === true && <span className="text-warn">no process drives it</span>}
        {isLost && (
          <span role="status" className="text-bad">
            behind: connecting again …
          </span>
        )}
        <Id id={id} />
        <div className="ml-auto flex flex-wrap gap-2">
          <RunActions run={run} step={step} />
        </div>
      </div>
      <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-sm text-soft">
        <Fact name="started">
          <Time at={run.started_at ?? run.created_at} />
        </Fact>
        <Fact name="took">
          <Duration from={run.started_at} to={run.completed_at} />
        </Fact>
        <Fact name="cost">
          <Cost usd={run.total_cost_usd} atMost={run.cost_usd_at_most} />
          {run.limits?.map(({ of, limit, used, is }) => (
            <span key={of} className={is === "ok" ? "" : "text-warn"}>
              {" "}
              {of === "cost_usd"
                ? `of ${toUsdText(limit)}`
                : `· ${used.toLocaleString()} of ${limit.toLocaleString()} ${of}`}
            </span>
          ))}
        </Fact>
        <Fact name="dialect">{run.dialect}</Fact>
        {run.tenant_id !== null && <Fact name="tenant">{run.tenant_id}</Fact>}
        <Lineage run={run} />
      </dl>
      {wait && (
        <p className="mt-1 text-sm text-wait">
          It {wait.says}
          {wait.holders?.map((holder) => (
            <span key={holder}>
              {" "}
              <Link href={`/runs/${holder}`} className="font-mono text-xs underline">
                {holder === id ? "this one" : holder.slice(0, 13)}
              </Link>
            </span>
          ))}
        </p>
      )}
      {run.capacity_waits?.map(({ pool, waiting, width }) => (
        <p key={pool} className="mt-1 text-sm text-wait">
          {waiting} calls wait for {pool}, which takes {width} at once.
        </p>
      ))}
      {run.missing !== undefined && (
        <p className="mt-1 text-sm text-wait">Conditions read what the input has not: {run.missing.join(", ")}.</p>
      )}
      {run.awaited_events !== undefined && (
        <p className="mt-1 text-sm text-wait">It waits for: {run.awaited_events.join(", ")}.</p>
      )}
      {status === "awaiting_approval" && (
        <p className="mt-1 text-sm text-wait">
          It asks a person.{" "}
          <Link href="/approvals" className="underline">
            Answer in Approvals
          </Link>
        </p>
      )}
      {error !== null && (step === "" || run.failed_path === null) && (
        <div className="mt-2">
          {run.failed_path === null && run.status === "failed" && (
            <p className="mb-1 text-sm">It failed outside of any step.</p>
          )}
          <Problem error={error} />
        </div>
      )}
    </header>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div className="flex min-w-0 gap-1">
      <dt>{name}</dt>
      <dd className="min-w-0 truncate text-ink">{children}</dd>
    </div>
  );
}

function Lineage({ run }: { readonly run: Run }) {
  const link = (id: string) => (
    <Link href={`/runs/${id}`} className="font-mono text-xs underline">
      {id.slice(0, 8)}
    </Link>
  );
  const origin = run.rerun_of ?? run.forked_from;
  const [newest] = run.reruns;
  return (
    <>
      {run.parent_run_id !== null && <Fact name="called by">{link(run.parent_run_id)}</Fact>}
      {origin !== null && (
        <Fact name={run.rerun_of === null ? "fork of" : "rerun of"}>
          {link(origin.run_id)}
          {origin.from_path !== "" && <span className="text-soft"> from {origin.from_path}</span>}{" "}
          <Link href={`/compare?a=${origin.run_id}&b=${run.run_id}`} className="underline">
            compare
          </Link>
        </Fact>
      )}
      {newest !== undefined && (
        <Fact name="done again">
          {link(newest.run_id)}
          {run.reruns.length > 1 && <span className="text-soft"> and {run.reruns.length - 1} more</span>}{" "}
          <Link href={`/compare?a=${run.run_id}&b=${newest.run_id}`} className="underline">
            compare
          </Link>
        </Fact>
      )}
      {origin === null && newest === undefined && (
        <Fact name="compare">
          <Link href={`/compare?a=${run.run_id}`} className="underline">
            with another run
          </Link>
        </Fact>
      )}
    </>
  );
}

/** What can be done with a run as it is. What the server refuses stands beside it. */
function RunActions({ run, step }: { readonly run: Run; readonly step: string }) {
  const [, go] = useLocation();
  const [asked, setAsked] = useState<"cancel" | "fork" | "rerun">();
  const cancel = useDo("POST /runs/{id}/cancel");
  const resume = useDo("POST /runs/{id}/resume");
  const rerun = useDo("POST /runs/{id}/rerun");
  const id = run.run_id;
  const ended = hasEnded(run);
  const again = (fromStep?: string) => {
    const given = fromStep === undefined ? { id } : { id, from_step: fromStep };
    rerun.mutate(given, { onSuccess: ({ run_id }) => go(`/runs/${run_id}`) });
  };
  // One key asks, and another one starts what may be paid for.
  useKeys({ r: () => ended && setAsked("rerun") });
  const error = cancel.error ?? resume.error ?? rerun.error;
  const isStuck = run.not_driven === true || (run.error !== null && !ended);
  return (
    <>
      {isStuck && (
        <Button kind="main" isBusy={resume.isPending} onClick={() => resume.mutate({ id })}>
          Resume
        </Button>
      )}
      {!ended && (
        <Button kind="danger" isBusy={cancel.isPending} onClick={() => setAsked("cancel")}>
          Cancel
        </Button>
      )}
      {ended && step !== "" && (
        <Button
          kind={run.status === "completed" ? "plain" : "main"}
          hint="r"
          isBusy={rerun.isPending}
          onClick={() => again(step)}
        >
          Rerun from here
        </Button>
      )}
      {ended && step === "" && (
        <Button hint="r" isBusy={rerun.isPending} onClick={() => again()}>
          Rerun
        </Button>
      )}
      {ended && <Button onClick={() => setAsked("fork")}>Fork with changes</Button>}
      {asked === "cancel" && (
        <AskFirst
          title="Cancel the run?"
          yes="Cancel it"
          isBusy={cancel.isPending}
          onYes={() => cancel.mutate({ id }, { onSettled: () => setAsked(undefined) })}
          onClose={() => setAsked(undefined)}
        >
          What is in flight is told to stop. Finished steps stay finished: the run can be done again from any of them.
        </AskFirst>
      )}
      {asked === "rerun" && (
        <AskFirst
          isYesNext
          title={step === "" ? "Do the run again?" : "Do it again from here?"}
          yes="Rerun"
          isBusy={rerun.isPending}
          onYes={() => {
            setAsked(undefined);
            again(step === "" ? undefined : step);
          }}
          onClose={() => setAsked(undefined)}
        >
          It is a new run, which may cost as much{step === "" ? "" : ` as what follows ${step}`}.
        </AskFirst>
      )}
      {asked === "fork" && <ForkDialog run={run} step={step} onClose={() => setAsked(undefined)} />}
      {error && (
        <div className="basis-full">
          <Problem error={error} />
        </div>
      )}
    </>
  );
}
