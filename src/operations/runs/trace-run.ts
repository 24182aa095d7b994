import type { Transition } from "../../core/graph/graph.ts";
import type { NoteWay } from "../../core/history/run-state.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import { type RunReading, readHandles, readRunHistory } from "./describe/describe-run-reading.ts";
import { toTime } from "./describe/describe-step.ts";
import { entryOf } from "./describe/step-tree.ts";

/** A step of a run's trace; steps are in the order in which they began. For developers: it shows values. */
export interface TracedStep {
  readonly path: string;
  readonly status: string;
  /** The input of its executor. Null if it has none, or was over before the input was recorded. */
  readonly input: Json;
  readonly output?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly transition?: TracedTransition;
}

interface TracedTransition {
  /** The step that came next, or how the flow ended. */
  readonly to: string;
  /** The outcome that it belongs to. */
  readonly on: Transition["on"];
  /** The condition that held, as it is written. Null: it has none. */
  readonly condition: string | null;
}

/** Reads the trace of a run; its values are all in memory at once. */
export async function traceRun(reading: RunReading): Promise<readonly TracedStep[]> {
  const ways = new Map<string, number | boolean>();
  const noteWay: NoteWay = (path, taken) => ways.set(path, taken);
  const { history } = await readRunHistory(reading.sources, reading.record, { noteWay });
  const steps = [...history.steps.values()];
  const load = await readHandles(
    reading,
    steps.flatMap((step) => [step.inputSeq, entryOf(step).output]),
  );
  return steps.map((step) => {
    const { path, status, failure, life, inputSeq, beganAt, startedAt } = step;
    return {
      path,
      status,
      input: load(inputSeq),
      ...(status === "completed" ? { output: load(entryOf(step).output) } : {}),
      ...(status === "failed" && failure !== undefined
        ? { error: { code: failure.code, message: failure.message } }
        : {}),
      started_at: toIsoTime(startedAt ?? beganAt),
      ended_at: toTime(life.is === "ended" ? life.at : undefined),
      // The items of one fan-out go one way.
      transition: describeTransition(step.step.step.transitions?.[Number(ways.get(path.replace(/\[\d+\]$/, "")))]),
    };
  });
}

function describeTransition(taken: Transition | undefined): TracedTransition | undefined {
  if (taken === undefined) return undefined;
  const { to, on, written = null } = taken;
  return { to: typeof to === "string" ? to : `end (${to.end})`, on, condition: written };
}
