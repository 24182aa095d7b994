import type { Instance } from "../../history/run-state.ts";
import type { Turn } from "../turn.ts";

/** Hands an instance to the host, which has the values that state has not. */
export function beginBinding(
  turn: Turn,
  instance: Instance,
  command: "evaluateStep" | "resolveCall" | "askApproval" | "beginWait",
): void {
  instance.phase = "binding";
  instance.attempt += 1;
  instance.startedAt = turn.state.now;
  turn.commands.push({ type: command, instance, attempt: instance.attempt });
}
