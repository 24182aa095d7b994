import type { End, Transition } from "../../graph/graph.ts";
import { SINGLE } from "../../graph/shape.ts";
import { stepPath } from "../../graph/step-path.ts";
import {
  type Failure,
  type Instance,
  type InstanceOutcome,
  type InstanceStatus,
  type Scope,
  SINGLE_ITEM,
  type StepState,
} from "../../history/run-state.ts";
import type { JsonObject } from "../../json.ts";
import { evaluateControl } from "../control-scope.ts";
import type { Turn } from "../turn.ts";
import { cancelScope, failScope, forgetLosses, notePartial } from "./losses.ts";
import { fillPlace } from "./window.ts";

/** One instance of a step: by index in its fan-out, or `SINGLE_ITEM`. */
export interface Item {
  readonly scope: Scope;
  readonly step: number;
  readonly item: number;
}

/** Takes an instance out of the active ones; its outcome is final. */
export function settleInstance(turn: Turn, instance: Instance, outcome: InstanceOutcome): void {
  const { scope, step, item } = instance;
  turn.state.active.delete(instance.path);
  scope.live.delete(instance);
  const state = scope.steps[step.index];
  if (state === undefined) return;
  state.running -= 1;
  settleItem(turn, { scope, step: step.index, item }, outcome);
  if (scope.phase === "open") fillPlace(turn, scope, step.index);
}

/** Records the outcome of an instance and starts what has waited for it. */
export function settleItem(turn: Turn, { scope, step, item }: Item, outcome: InstanceOutcome): void {
  const state = scope.steps[step];
  const indexed = scope.flow.steps[step];
  if (state === undefined || indexed === undefined) return;
  const index = item < 0 ? 0 : item;
  const status = statusOf(outcome, indexed.step.onFailure ?? "abort");
  state.status[index] = status;
  state.handle[index] = handleOf(scope, outcome);
  if ("known" in outcome && outcome.known !== undefined) {
    // At full length from the start: items end in any order, and an array with holes is slow.
    state.known ??= new Array<JsonObject | undefined>(sizeOf(state)).fill(undefined);
    state.known[index] = outcome.known;
  }
  state.settled += 1;
  // A fan-out responds with its whole list, filled as items end: the result must not depend on which one is last.
  if (indexed.step.kind === "respond" && outcome.status === "succeeded")
    scope.result = state.items === SINGLE_ITEM ? outcome.handle : { kind: "list", handles: state.handle };
  if (outcome.status === "failed") applyFailure(turn, { scope, step, item }, outcome.failure, status);
  endEarly(turn, scope, outcome);
  if (scope.phase !== "open") {
    if (scope.live.size === 0) turn.work.push({ type: "endScope", scope });
  } else if (scope.flow.flow.kind === "machine") settleInMachine(turn, scope, step, state);
  else settleInDag(turn, { scope, step, item: index }, state, status);
}

/** All instances of a dag's step have ended: those that need the whole of it may go on. */
export function settleStep(turn: Turn, scope: Scope, step: number): void {
  const state = scope.steps[step];
  if (state === undefined || state.phase === "settled" || scope.phase !== "open") return;
  state.phase = "settled";
  scope.unsettled -= 1;
  for (const dependent of scope.flow.steps[step]?.dependents ?? []) {
    if (!isInside(scope, step, dependent)) openGate(turn, scope, dependent);
  }
  if (scope.unsettled === 0) turn.work.push({ type: "endScope", scope });
}

function statusOf(outcome: InstanceOutcome, onFailure: "abort" | "skip" | "continue"): InstanceStatus {
  if (outcome.status !== "failed") return outcome.status;
  if (onFailure === "abort") return "failed";
  return onFailure === "skip" ? "lost" : "resumed";
}

function handleOf(scope: Scope, outcome: InstanceOutcome): StepState["handle"][number] {
  if (outcome.status === "succeeded") return outcome.handle;
  // Machines read the error of a failed step; in a dag its dependants see null.
  if (outcome.status === "failed" && scope.flow.flow.kind === "machine")
    return { kind: "failure", failure: outcome.failure };
  return 0;
}

function applyFailure(turn: Turn, { scope, step }: Item, failure: Failure, status: InstanceStatus): void {
  const state = scope.steps[step];
  if (status !== "failed") {
    notePartial(turn, scope);
    if (state !== undefined && isTooMuch(scope, state)) failScope(turn, scope, failure);
  } else if (scope.flow.flow.kind === "dag") failScope(turn, scope, failure);
  else failVisit(state, failure);
}

/** Where the first one decides. */
function endEarly(turn: Turn, scope: Scope, outcome: InstanceOutcome): void {
  const until = scope.flow.flow.kind === "dag" ? scope.flow.flow.until : undefined;
  if (until === undefined || scope.isWon === true) return;
  const hasWon = outcome.status === "succeeded" && scope.phase === "open";
  if (!hasWon && !(until === "firstEnd" && outcome.status === "failed")) return;
  if (hasWon) {
    scope.isWon = true;
    scope.result = outcome.handle;
    scope.losses = undefined;
  }
  cancelScope(turn, scope);
}

/** Whether more has failed in a flow than it takes. */
function isTooMuch({ flow: { flow }, steps }: Scope, { status: items }: StepState): boolean {
  if (flow.kind !== "dag" || flow.tolerates === undefined) return false;
  const failed = steps.flatMap((state) => state?.status.filter((each) => each === "lost" || each === "resumed") ?? []);
  const { tolerates } = flow;
  return failed.length > ("share" in tolerates ? Math.floor(tolerates.share * items.length) : tolerates.failures);
}

/** Running items of the fan-out may finish, and no more start. */
function failVisit(state: StepState | undefined, failure: Failure): void {
  if (state === undefined) return;
  state.failure ??= failure;
  state.queue?.clear();
}

function settleInDag(turn: Turn, { scope, step, item }: Item, state: StepState, status: InstanceStatus): void {
  if (scope.shape[step] !== SINGLE) {
    for (const dependent of scope.flow.steps[step]?.dependents ?? []) {
      if (isInside(scope, step, dependent)) meetNeed(turn, { scope, step: dependent, item }, isPassedOn(status));
    }
  }
  if (isGateOpen(scope, step) && state.settled === sizeOf(state)) turn.work.push({ type: "settleStep", scope, step });
}

/** A skip goes along the item, so that nothing is paid for on null. */
function isPassedOn(status: InstanceStatus): boolean {
  return status === "lost" || status === "skipped" || status === "cancelled";
}

function meetNeed(turn: Turn, { scope, step, item }: Item, skips: boolean): void {
  const state = scope.steps[step];
  if (state?.need === undefined) return;
  if (skips) state.status[item] = "skipped";
  const left = (state.need[item] ?? 0) - 1;
  state.need[item] = left;
  if (left > 0) return;
  if (state.status[item] === "skipped") turn.work.push({ type: "skipItem", scope, step, item });
  else if (isGateOpen(scope, step)) turn.work.push({ type: "startItems", scope, step, from: item, to: item + 1 });
  else {
    state.held ??= [];
    state.held.push(item);
  }
}

function isGateOpen(scope: Scope, step: number): boolean {
  return (scope.gates[step] ?? 0) === 0;
}

function openGate(turn: Turn, scope: Scope, step: number): void {
  scope.gates[step] = (scope.gates[step] ?? 0) - 1;
  if (!isGateOpen(scope, step)) return;
  const follows = scope.shape[step] !== SINGLE && scope.shape[step] !== step;
  if (!follows) {
    turn.work.push({ type: "openStep", scope, step });
    return;
  }
  const state = scope.steps[step];
  // The fan-out itself has not begun: its items will find the gate open.
  if (state === undefined) return;
  for (const item of state.held ?? []) turn.work.push({ type: "startItems", scope, step, from: item, to: item + 1 });
  state.held = undefined;
  if (state.phase === "open" && state.settled === sizeOf(state)) turn.work.push({ type: "settleStep", scope, step });
}

function isInside(scope: Scope, step: number, dependent: number): boolean {
  return scope.shape[step] !== SINGLE && scope.shape[step] === scope.shape[dependent];
}

export function sizeOf(state: StepState): number {
  return state.items === SINGLE_ITEM ? 1 : state.items;
}

function settleInMachine(turn: Turn, scope: Scope, step: number, state: StepState): void {
  const over = state.settled === sizeOf(state) || (state.failure !== undefined && state.running === 0);
  if (!over || state.phase === "settled") return;
  leaveStep(turn, scope, step);
}

/** A machine's step has ended: the first transition that holds is taken. */
export function leaveStep(turn: Turn, scope: Scope, step: number): void {
  const state = scope.steps[step];
  const indexed = scope.flow.steps[step];
  if (state === undefined || indexed === undefined) return;
  state.phase = "settled";
  const transitions = indexed.step.transitions ?? [];
  const outcome = state.failure === undefined ? "success" : "failure";
  const taken =
    transitions.length === 0
      ? -1
      : turn.decisions.evaluate(() =>
          transitions.findIndex(
            ({ on, when }) =>
              (on === "any" || on === outcome) &&
              (when === undefined || evaluateControl(turn.state, { scope, step, item: SINGLE_ITEM }, when) === true),
          ),
        );
  if (typeof taken !== "number") return failScope(turn, scope, taken);
  turn.state.noteWay?.(stepPath(scope.path, indexed.escapedId, state.visit, SINGLE_ITEM), taken);
  const target = transitions[taken]?.to;
  const isAnswered = typeof target === "string" || target?.end === "success";
  if (outcome === "failure" && isAnswered && state.lossesBefore !== undefined)
    forgetLosses(turn, scope, state.lossesBefore);
  if (typeof target === "string") {
    turn.work.push({ type: "visitStep", scope, step: scope.flow.indexOf.get(target) ?? 0 });
  } else endMachine(turn, { scope, id: indexed.step.id, state }, target ?? untaken(outcome, transitions));
}

type MachineEnd = End["end"] | "stuck";

/** Without any transition a step ends the flow as it ended itself; with some, one has to hold. */
function untaken(outcome: "success" | "failure", transitions: readonly Transition[]): MachineEnd {
  return outcome === "success" && transitions.length > 0 ? "stuck" : outcome;
}

function endMachine(
  turn: Turn,
  { scope, id, state }: { scope: Scope; id: string; state: StepState },
  end: End | MachineEnd,
): void {
  const how = typeof end === "string" ? end : end.end;
  if (how === "stuck") {
    failScope(turn, scope, { code: "NO_TRANSITION", message: `No transition of "${id}" holds.`, seq: 0 });
  } else if (how === "failure") {
    failScope(
      turn,
      scope,
      // A `catch` that ends as failed, and has not failed itself, passes on what it handles.
      state.failure ??
        (scope.role === "catch" ? scope.parent?.failure : undefined) ?? {
          code: "STEP_FAILED",
          message: `"${id}" ends the flow as failed.`,
          seq: 0,
        },
    );
  } else {
    scope.result ??= state.items === SINGLE_ITEM ? (state.handle[0] ?? 0) : { kind: "list", handles: state.handle };
    turn.work.push({ type: "endScope", scope });
  }
}
