import { stepPath } from "../../graph/step-path.ts";
import { type Failure, type Scope, SINGLE_ITEM, type StepState } from "../../history/run-state.ts";
import { evaluateControl } from "../control-scope.ts";
import { handleOf, seeStep } from "../lookup.ts";
import type { Turn } from "../turn.ts";
import { failScope, noteFailure, notePartial } from "./losses.ts";
import { newStepState } from "./open-scope.ts";
import { leaveStep } from "./settle.ts";

/** A step whose dependencies have ended becomes one instance, or one per item. */
export function openStep(turn: Turn, scope: Scope, step: number): void {
  if (scope.phase !== "open") return;
  const state = stateOf(scope, step);
  const each = scope.flow.steps[step]?.step.each;
  state.phase = "open";
  if (each === undefined) {
    state.items = SINGLE_ITEM;
    state.status = ["pending"];
    state.handle = [0];
    turn.work.push({ type: "startItems", scope, step, from: SINGLE_ITEM, to: SINGLE_ITEM + 1 });
    return;
  }
  const count = turn.decisions.evaluate(() => countItems(turn, scope, step));
  if (typeof count !== "number") failList(turn, scope, { step, state }, count ?? undefined);
  else openItems(turn, scope, step, count);
}

/** Made only now: state of steps that a run never reaches is never there. */
function stateOf(scope: Scope, step: number): StepState {
  const known = scope.steps[step];
  const state = known ?? newStepState(0, undefined);
  scope.steps[step] = state;
  return state;
}

function openItems(turn: Turn, scope: Scope, step: number, count: number): void {
  for (const member of membersOf(scope, step)) {
    const state = stateOf(scope, member);
    state.phase = "open";
    state.items = count;
    state.status = new Array(count).fill("pending");
    state.handle = new Array(count).fill(0);
    if (member !== step) {
      const inner = scope.flow.steps[member]?.after.filter((need) => scope.shape[need] === step).length ?? 0;
      state.need = new Array(count).fill(inner);
    }
    if (count === 0 && (scope.gates[member] ?? 0) === 0) endEmpty(turn, scope, member);
  }
  if (count > 0) turn.work.push({ type: "startItems", scope, step, from: 0, to: count });
}

function endEmpty(turn: Turn, scope: Scope, step: number): void {
  if (scope.flow.flow.kind === "machine") leaveStep(turn, scope, step);
  else turn.work.push({ type: "settleStep", scope, step });
}

/** The step itself and those that follow its fan-out. */
function membersOf(scope: Scope, origin: number): readonly number[] {
  if (!scope.flow.hasItemFields || scope.flow.flow.kind === "machine") return [origin];
  return scope.flow.order.filter((step) => scope.shape[step] === origin);
}

/** Null: there is no list. The list of a step that was skipped is empty. */
function countItems(turn: Turn, scope: Scope, step: number): number | null {
  const each = scope.flow.steps[step]?.step.each;
  if (each?.count === undefined) return null;
  const view = { scope, step, item: SINGLE_ITEM };
  const { list } = each;
  if (list.op === "path" && list.root === "steps") {
    const seen = seeStep(view, list.name ?? "");
    if (seen?.kind === "all" && list.path.length === 0) return seen.state.items < 0 ? null : seen.state.items;
    if (seen?.kind === "one" && handleOf(seen.state, seen.item) === 0) return 0;
  }
  const count = evaluateControl(turn.state, view, each.count);
  if (typeof count !== "number") return null;
  if (count >= 0) return count;
  return each.coerce === true ? 1 : null;
}

function failList(
  turn: Turn,
  scope: Scope,
  { step, state }: { readonly step: number; readonly state: StepState },
  tooCostly: Failure | undefined,
): void {
  const indexed = scope.flow.steps[step];
  const { onFailure = "abort" } = indexed?.step ?? {};
  const path = stepPath(scope.path, indexed?.escapedId ?? "", state.visit, SINGLE_ITEM);
  const message = `What "${path}" should fan out over does not exist or is no list.`;
  const failure = tooCostly ?? { code: "LIST_MISSING", message, seq: 0 };
  noteFailure(turn, scope, { path, code: failure.code, message: failure.message });
  if (onFailure !== "abort") {
    notePartial(turn, scope);
    openItems(turn, scope, step, 0);
  } else if (scope.flow.flow.kind === "dag") failScope(turn, scope, failure);
  else {
    state.items = 0;
    state.failure = failure;
    leaveStep(turn, scope, step);
  }
}
