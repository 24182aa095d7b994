import { loadHandle } from "../../core/binding/bind.ts";
import { collectOfHandle } from "../../core/binding/values-needed.ts";
import type { Transition } from "../../core/graph/graph.ts";
import type { Handle, Scope } from "../../core/history/run-state.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import type { StepHistory } from "./describe/describe-run-history.ts";
import { type RunReading, type RunSources, readValues } from "./describe/describe-run-reading.ts";
import { statusOfEnd, statusOfPhase } from "./describe/describe-run-steps.ts";
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
export async function traceRun(sources: RunSources, reading: RunReading): Promise<readonly TracedStep[]> {
  const { history } = reading;
  const decided = await readDecisions(sources, reading);
  const seqs = new Set<number>();
  for (const step of history.steps.values()) {
    if (step.inputSeq > 0) seqs.add(step.inputSeq);
    collectOfHandle(outputOf(step), seqs);
  }
  const values = await readValues(reading, seqs);
  const transitions = transitionsTaken(history.scopes, decided);
  return [...history.steps.values()].map((step) => {
    const { path, life, inputSeq, beganAt, startedAt } = step;
    const status = life.is === "ended" ? statusOfEnd(life.status) : statusOfPhase(life.instance.phase);
    const failure = history.failures.get(path) ?? failureOf(outputOf(step)) ?? step.attemptFailure;
    const transition = transitions.get(path);
    return {
      path,
      status,
      input: inputSeq > 0 ? (values.value(inputSeq) ?? null) : null,
      ...(status === "completed" ? { output: loadHandle(outputOf(step), values) } : {}),
      ...(status === "failed" && failure !== undefined
        ? { error: { code: failure.code, message: failure.message } }
        : {}),
      started_at: toIsoTime(startedAt ?? beganAt),
      ended_at: life.is === "ended" ? toIsoTime(life.at) : null,
      transition,
    };
  });
}

function outputOf({ life }: StepHistory): Handle {
  return life.is === "ended" ? life.handle : 0;
}

function failureOf(handle: Handle): { readonly code: string; readonly message: string } | undefined {
  return typeof handle === "object" && handle.kind === "failure" ? handle.failure : undefined;
}

/** Reads the decisions on the outcome of each step, by path. */
async function readDecisions(
  { journal }: RunSources,
  { record }: RunReading,
): Promise<ReadonlyMap<string, readonly Json[]>> {
  const decisions = new Map<string, readonly Json[]>();
  for await (const { event } of eachEvent(journal, record.no)) {
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
