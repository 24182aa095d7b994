import type { Instance, Scope } from "../../history/run-state.ts";
import { concludeInstance } from "../attempt/conclude.ts";
import { dropHeld } from "../attempt/crashes.ts";
import { closeApproval } from "../step-kinds/approve.ts";
import { stopWaiting } from "../step-kinds/wait.ts";
import type { Turn } from "../turn.ts";
import { cancelScope, failScope } from "./losses.ts";
import { takePlace } from "./window.ts";

/**
 * Ends what lives in a scope that takes nothing new. Running tasks finish, or are told to stop where the scope is
 * cancelled; whatever waits is void; `finally` still runs.
 */
export function closeScope(turn: Turn, scope: Scope): void {
  for (const state of scope.steps) {
    state?.queue?.clear();
    state?.answered?.clear();
  }
  for (const instance of [...scope.live]) closeInstance(turn, scope, instance);
  if (scope.live.size === 0) turn.work.push({ type: "endScope", scope });
}

function closeInstance(turn: Turn, scope: Scope, instance: Instance): void {
  switch (instance.phase) {
    case "dispatched":
      if (scope.phase === "cancelling")
        turn.commands.push({ type: "abortTask", path: instance.path, attempt: instance.attempt });
      return;
    case "body":
    case "catch":
      if (instance.child === undefined) return;
      if (scope.phase === "cancelling") cancelScope(turn, instance.child);
      else failScope(turn, instance.child, undefined);
      return;
    case "finally":
      return;
    case "approval":
      closeApproval(turn, instance);
      break;
    case "answered":
      takePlace(instance);
      break;
    case "held":
      dropHeld(turn, instance);
      break;
    case "waiting":
      stopWaiting(turn, instance);
      break;
    case "blocked":
    case "parked":
    case "binding":
    case "backoff":
      break;
    case "projecting":
      // Its outcome is known and stays.
      concludeInstance(turn, instance, instance.outcome ?? { status: "cancelled" });
      return;
  }
  concludeInstance(turn, instance, { status: "cancelled" });
}
