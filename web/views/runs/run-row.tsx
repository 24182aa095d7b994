import { memo } from "react";
import { Link } from "wouter";
import { StatusSign, wordsOf } from "../../parts/status.tsx";
import { Cost, Duration, Id, Time } from "../../parts/values.tsx";
import type { RunSummary } from "./use-runs.ts";

interface RunRowProps {
  readonly run: RunSummary;
  readonly isMarked: boolean;
  readonly onMark: (id: string) => void;
}

const GRID =
  "grid grid-cols-[auto_auto_minmax(0,1fr)_auto] items-center gap-x-2 px-3 md:grid-cols-[auto_auto_minmax(10rem,2fr)_minmax(0,3fr)_6.5rem_6rem_7rem_6.5rem]";

/** What stands in the columns of a wide page. */
export function RunRowHead() {
  return (
    <div
      aria-hidden="true"
      className={`${GRID} sticky top-0 z-10 border-b border-line bg-ground py-0.5 text-xs text-soft max-md:hidden`}
    >
      <span className="w-[13px]" />
      <span className="w-3.5" />
      <span>workflow</span>
      <span>status or error</span>
      <span>run</span>
      <span className="text-right">took</span>
      <span className="text-right">cost</span>
      <span className="text-right">created</span>
    </div>
  );
}

/** A run in a line. On a narrow page it has two. */
export const RunRow = memo(function RunRow({ run, isMarked, onMark }: RunRowProps) {
  const { run_id: id, workflow_name: workflow, status, error } = run;
  const isHeld = error !== null && run.completed_at === null;
  return (
    <div className={`${GRID} py-1.5`}>
      <input
        type="checkbox"
        aria-label={`Mark ${workflow} ${id}`}
        checked={isMarked}
        className="accent-accent"
        onChange={() => onMark(id)}
      />
      <StatusSign status={isHeld ? "held" : status} />
      <Link href={`/runs/${id}`} className="min-w-0 truncate font-medium hover:underline" title={workflow}>
        {workflow}
      </Link>
      <span
        className="min-w-0 truncate text-soft max-md:col-span-full max-md:row-start-2 max-md:pl-12"
        title={error?.message ?? ""}
      >
        {run.not_driven === true && <span className="mr-1 text-warn">not driven</span>}
        {run.budget_wait && <span className="mr-1 text-wait">{run.budget_wait.says}</span>}
        {error === null ? wordsOf(status) : `${error.code}: ${error.message}`}
      </span>
      <span className="max-md:hidden">
        <Id id={id} />
      </span>
      <span className="text-right max-md:hidden">
        <Duration from={run.started_at} to={run.completed_at} />
      </span>
      <span className="text-right max-md:hidden">
        <Cost usd={run.total_cost_usd} atMost={run.cost_usd_at_most} />
      </span>
      <span className="text-right text-soft">
        <Time at={run.created_at} />
      </span>
    </div>
  );
});
