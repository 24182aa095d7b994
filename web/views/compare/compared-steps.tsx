import { Link } from "wouter";
import { useInAddress } from "../../data/use-address.ts";
import { useCall } from "../../data/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { LineDiff } from "../../parts/line-diff.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { StatusSign } from "../../parts/status.tsx";
import { toUsdText } from "../../parts/values.tsx";
import { Diff, OnDemand } from "./changes.tsx";
import { type RunComparison, signed } from "./compared-facts.tsx";

type Step = RunComparison["steps"][number];

/** Step by step: those that differ, and on demand all of them. */
export function ComparedSteps({ comparison }: { readonly comparison: RunComparison }) {
  const [shown, setShown] = useInAddress("steps");
  const { steps, steps_left_out: leftOut, run_id: ids } = comparison;
  const different = steps.filter(isDifferent);
  const listed = shown === "all" ? steps : different;
  const alike = steps.length - different.length;
  return (
    <Section
      title={`Steps: ${different.length.toLocaleString()} of ${steps.length.toLocaleString()} differ`}
      actions={
        alike > 0 && (
          <Button kind="quiet" aria-pressed={shown === "all"} onClick={() => setShown(shown === "all" ? "" : "all")}>
            {shown === "all" ? "only what differs" : `${alike.toLocaleString()} alike`}
          </Button>
        )
      }
    >
      {listed.length === 0 && <p className="text-soft">No step differs.</p>}
      <ul aria-label="Steps">
        {listed.map((step) => (
          <li
            key={step.path}
            className="border-b border-line/60 py-1 [contain-intrinsic-size:auto_30px] [content-visibility:auto]"
          >
            {isDifferent(step) ? (
              <OnDemand title={<StepLine step={step} />}>
                <StepChange step={step} ids={ids} />
              </OnDemand>
            ) : (
              <div className="pl-5">
                <StepLine step={step} />
              </div>
            )}
          </li>
        ))}
      </ul>
      {leftOut > 0 && (
        <p className="mt-2 text-warn">{leftOut.toLocaleString()} more steps were not compared: it ends at 1,000.</p>
      )}
    </Section>
  );
}

function isDifferent({ only_in, status, output_changed, prompt_changed, cost_usd_delta: delta }: Step): boolean {
  return (
    only_in !== null || status.a !== status.b || output_changed || prompt_changed || (delta !== null && delta !== 0)
  );
}

function StepLine({ step }: { readonly step: Step }) {
  const { path, only_in: onlyIn, status, output_changed, prompt_changed, cost_usd_delta: delta } = step;
  const words = [
    ...(onlyIn === null ? [] : [onlyIn === "a" ? "only in the first" : "only in the second"]),
    ...(onlyIn === null && prompt_changed ? ["another prompt"] : []),
    ...(onlyIn === null && output_changed ? ["another output"] : []),
  ];
  return (
    <span className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-2 md:grid-cols-[auto_minmax(0,2fr)_minmax(0,3fr)_6rem]">
      <span className="flex w-12 items-center gap-1">
        {status.a === null ? <Nowhere /> : <StatusSign status={status.a} size={12} />}
        {status.a !== status.b && (
          <>
            <span aria-hidden="true" className="text-soft">
              →
            </span>
            {status.b === null ? <Nowhere /> : <StatusSign status={status.b} size={12} />}
          </>
        )}
      </span>
      <span className="truncate" title={path}>
        {path}
      </span>
      <span className="truncate text-soft max-md:col-start-2 max-md:row-start-2">{words.join(", ")}</span>
      <span className="text-right tabular-nums">{delta === null || delta === 0 ? "" : signed(delta, toUsdText)}</span>
    </span>
  );
}

function Nowhere() {
  return (
    <span role="img" aria-label="not there" title="not there" className="w-3 text-center text-soft">
      –
    </span>
  );
}

interface StepChangeProps {
  readonly step: Step;
  readonly ids: RunComparison["run_id"];
}

function StepChange({ step, ids }: StepChangeProps) {
  const { path, only_in: onlyIn, output_changed, output_diff, prompt_changed } = step;
  return (
    <div className="grid gap-2">
      <p className="flex gap-3 text-sm">
        {onlyIn !== "b" && <StepLink id={ids.a} path={path} words="in the first run" />}
        {onlyIn !== "a" && <StepLink id={ids.b} path={path} words="in the second run" />}
      </p>
      {prompt_changed && onlyIn === null && <PromptChange path={path} ids={ids} />}
      {output_changed && (
        <div>
          <h3 className="text-xs text-soft">Output</h3>
          <Diff diff={output_diff} />
        </div>
      )}
    </div>
  );
}

function StepLink({ id, path, words }: { readonly id: string; readonly path: string; readonly words: string }) {
  return (
    <Link href={`/runs/${id}?step=${encodeURIComponent(path)}`} className="text-accent underline">
      {words}
    </Link>
  );
}

/** A comparison says only that prompts differ: they are read when they are looked at. */
function PromptChange({ path, ids }: { readonly path: string; readonly ids: RunComparison["run_id"] }) {
  const a = useCall("GET /runs/{id}/steps/{path}", { id: ids.a, path });
  const b = useCall("GET /runs/{id}/steps/{path}", { id: ids.b, path });
  const error = a.error ?? b.error;
  return (
    <div>
      <h3 className="text-xs text-soft">Prompt</h3>
      {error !== null ? (
        <Problem error={error} />
      ) : a.data === undefined || b.data === undefined ? (
        <p className="text-soft">Reading both prompts …</p>
      ) : (
        <LineDiff before={a.data.input_prompt ?? ""} after={b.data.input_prompt ?? ""} />
      )}
    </div>
  );
}
