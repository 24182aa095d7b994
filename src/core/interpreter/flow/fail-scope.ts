import type { Failure, Scope } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";

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
