import type { Outspent, StepFailed } from "../../history/events.ts";
import type { Instance } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";
import { stopForBudget } from "./admission.ts";

/**
 * What was promised to the attempt of a budget was too little. That is the budget's matter and no failure of the step:
 * neither its retry policy nor what it says of a failure is asked. It waits for more with all others, and where there is no
 * more the budget has its say.
 */
export function goOnOutspent(
  turn: Turn,
  instance: Instance,
  event: StepFailed & { readonly outspent: Outspent },
): void {
  const { goesOn, promisedMicro } = event.outspent;
  const mayRepeat = goesOn || instance.step.step.atMostOnce !== true || event.effect === "none";
  if (!mayRepeat) {
    turn.state.budget.exhausted ??= `What was left for "${instance.path}" was too little, and it may not be repeated.`;
    return stopForBudget(turn, instance);
  }
  if (!goesOn) instance.tooLittleMicro = promisedMicro;
  instance.phase = "blocked";
  turn.work.push({ type: "redispatch", instance });
}
