import type { Transition } from "../../core/graph/graph.ts";
import type { Scope } from "../../core/history/run-state.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import { type RunReading, readHandles } from "./describe/describe-run-reading.ts";
import { toTime } from "./describe/describe-step.ts";
import type { StepHistory } from "./describe/step-history.ts";
import { entryOf } from "./describe/step-tree.ts";
import { eachEvent } from "./each-event.ts";

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
  const { history } = reading;
  const decided = await readDecisions(reading);
  const steps = [...history.steps.values()];
  const load = await readHandles(
    reading,
    steps.flatMap((step) => [step.inputSeq, entryOf(step).output]),
  );
  const transitions = transitionsTaken(history.scopes, decided);
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
      transition: transitions.get(path),
    };
  });
}

/** Reads the decisions on the outcome of each step, by path. */
async function readDecisions({ record, sources }: RunReading): Promise<ReadonlyMap<string, readonly Json[]>> {
  const decisions = new Map<string, readonly Json[]>();
  for await (const { event } of eachEvent(sources.journal, record.no)) {
    if ("path" in event) decisions.set(event.path, event.decided ?? []);
  }
  return decisions;
}

function transitionsTaken(
  scopes: ReadonlyMap<Scope, readonly StepHistory[]>,
  decided: ReadonlyMap<string, readonly Json[]>,
): ReadonlyMap<string, TracedTransition> {
  const taken = new Map<string, TracedTransition>();
  for (const [scope, visits] of scopes) {
    if (scope.flow.flow.kind !== "machine") continue;
    for (const [index, visit] of visits.entries()) {
      const next = visits.slice(index + 1).find((later) => !isSameVisit(visit, later));
      const isOver = next !== undefined || scope.phase === "ended";
      const transition = isOver ? findTaken(visit, next, decided.get(visit.path) ?? []) : undefined;
      if (transition !== undefined) taken.set(visit.path, transition);
    }
  }
  return taken;
}

/** Items of one fan-out share a visit. */
function isSameVisit(one: StepHistory, other: StepHistory): boolean {
  return one.step === other.step && one.item >= 0 && other.item > one.item;
}

/** The number of the transition is among what was decided; where two lead to the same step, it tells them apart. */
function findTaken(
  visit: StepHistory,
  next: StepHistory | undefined,
  decided: readonly Json[],
): TracedTransition | undefined {
  const outcome = visit.life.is === "ended" && visit.life.status === "failed" ? "failure" : "success";
  const candidates = (visit.step.step.transitions ?? []).flatMap((transition, number) => {
    const leadsThere = next === undefined ? typeof transition.to === "object" : transition.to === next.step.step.id;
    const isOfOutcome = transition.on === "any" || transition.on === outcome;
    return leadsThere && isOfOutcome ? [{ transition, number }] : [];
  });
  const { transition } = candidates.find(({ number }) => decided.includes(number)) ?? candidates[0] ?? {};
  if (transition === undefined) return undefined;
  const to = typeof transition.to === "string" ? transition.to : `end (${transition.to.end})`;
  return { to, on: transition.on, condition: transition.written ?? null };
}
