import { Link } from "wouter";
import { useCall } from "../../data/use-call.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { toDuration } from "../../parts/values.tsx";
import { type Step, secondsThen, statusThen } from "./status-then.ts";

const MOST_STEPS = 1_000;

interface StepsThenProps {
  readonly run: string;
  /** The time that is shown, in milliseconds since 1970. */
  readonly time: number;
  /** A click on a step goes to where it begins. */
  readonly onSeek: (time: number) => void;
}

/** The states of a recording's run as they were at a time, in the order in which they began. */
export function StepsThen({ run, time, onSeek }: StepsThenProps) {
  const { data, error } = useCall("GET /runs/{id}/steps", { id: run, limit: MOST_STEPS });
  if (error !== null && data === undefined) {
    return (
      <div className="p-2">
        <Problem error={error} />
      </div>
    );
  }
  if (data === undefined) return <Loading what="the states of its run" />;
  const steps = data.items.filter(({ queued_at: queued }) => queued !== null).sort((a, b) => beginOf(a) - beginOf(b));
  return (
    <div tabIndex={0} role="group" aria-label="States of its run" className="min-h-0 flex-1 overflow-auto">
      <h2 className="px-3 py-1.5 text-sm font-semibold">
        States of{" "}
        <Link href={`/runs/${run}`} className="text-accent underline">
          its run
        </Link>
      </h2>
      <ol>
        {steps.map((step) => (
          <StepRow key={step.path} step={step} time={time} onSeek={() => onSeek(beginOf(step))} />
        ))}
      </ol>
      {data.next_cursor !== null && (
        <p className="px-3 py-1.5 text-soft">The run has more: the first {MOST_STEPS.toLocaleString()} are here.</p>
      )}
    </div>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly time: number;
  readonly onSeek: () => void;
}

function StepRow({ step, time, onSeek }: StepRowProps) {
  const status = statusThen(step, time);
  const seconds = secondsThen(step, time);
  return (
    <li>
      <button
        type="button"
        aria-current={status !== undefined && (step.completed_at === null || time < Date.parse(step.completed_at))}
        title="Go to where it begins"
        className="grid w-full grid-cols-[minmax(0,1fr)_auto_4.5rem] gap-x-2 px-3 py-1 text-left text-sm hover:bg-raised aria-[current=true]:bg-accent/12"
        onClick={onSeek}
      >
        <span className="truncate font-mono" title={step.path}>
          {step.path}
        </span>
        {status === undefined ? <span className="text-soft">not yet</span> : <Status status={status} />}
        <span className="text-right text-soft">{seconds === undefined ? "" : toDuration(seconds)}</span>
      </button>
    </li>
  );
}

function beginOf({ started_at: started, queued_at: queued }: Step): number {
  return Date.parse(started ?? queued ?? "");
}
