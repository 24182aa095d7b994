import type { FailedStep, Failure, Losses, LossMark, Scope } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";

/** A step has failed for good. It counts for the run unless a flow around it is caught or tried again. */
export function noteFailure(turn: Turn, scope: Scope, failed: FailedStep): void {
  lossesOf(turn, scope).failures.push(failed);
}

export function markLosses(turn: Turn, scope: Scope): LossMark {
  const losses = knownLosses(turn, scope);
  return { failures: losses?.failures.length ?? 0, partial: losses?.partial ?? false };
}

/** The losses since the mark are mended: tried again, caught, or answered by a transition. */
export function forgetLosses(turn: Turn, scope: Scope, { failures, partial }: LossMark): void {
  const losses = knownLosses(turn, scope);
  if (losses === undefined) return;
  losses.failures.splice(failures);
  losses.partial = partial;
}

/** A step or item has failed and was skipped. */
export function notePartial(turn: Turn, scope: Scope): void {
  lossesOf(turn, scope).partial = true;
}

/** The losses of a flow are losses of the flow around it too. */
export function passLossesOn(turn: Turn, scope: Scope): void {
  const { losses, parent } = scope;
  if (losses === undefined || parent === undefined) return;
  const outer = lossesOf(turn, parent.scope);
  for (const failed of losses.failures) outer.failures.push(failed);
  if (losses.partial) outer.partial = true;
}

/** Undefined: nothing has been lost in it. */
function knownLosses({ state }: Turn, scope: Scope): Losses | undefined {
  return scope.parent === undefined ? state : scope.losses;
}

function lossesOf({ state }: Turn, scope: Scope): Losses {
  if (scope.parent === undefined) return state;
  scope.losses ??= { failures: [], partial: false };
  return scope.losses;
}

/** From now on nothing starts in the scope; what runs may finish. */
export function failScope(turn: Turn, scope: Scope, failure: Failure | undefined): void {
  if (scope.phase !== "open") return;
  scope.phase = "failing";
  scope.failure = failure;
  turn.closing.push(scope);
}

/** From now on nothing starts in the scope, and what runs is told to stop. */
export function cancelScope(turn: Turn, scope: Scope): void {
  if (scope.phase === "ended" || scope.phase === "cancelling") return;
  scope.phase = "cancelling";
  turn.closing.push(scope);
}
