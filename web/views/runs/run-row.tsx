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

/** A run in a line. On a narrow page it has two. */
export const RunRow = memo(function RunRow({ run, isMarked, onMark }: RunRowProps) {
  const { run_id: id, workflow_name: workflow, status, error } = run;
  const isHeld = error !== null && run.completed_at === null;
  return (
    <div className="grid grid-cols-[auto_auto_minmax(0,1fr)_auto] items-center gap-x-2 px-3 py-1.5 md:grid-cols-[auto_auto_minmax(10rem,2fr)_minmax(0,3fr)_6.5rem_6rem_7rem_6.5rem]">
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
