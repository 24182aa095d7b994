import type { RunState, Scope } from "../history/run-state.ts";
import type { Turn } from "./turn.ts";

/** The root has ended: the run will, as soon as that is recorded. */
export function endRun(turn: Turn, root: Scope): void {
  const { state } = turn;
  if (state.phase !== "open") return;
  state.phase = "finishing";
  state.ending = endingOf(state, root);
  for (const timer of [...state.timers.keys()]) {
    state.timers.delete(timer);
    turn.commands.push({ type: "stopTimer", timer });
  }
  turn.commands.push({ type: "finishRun", ...state.ending });
}

function endingOf(state: RunState, root: Scope): NonNullable<RunState["ending"]> {
  switch (state.stopping) {
    case "cancelled":
      return { status: "cancelled", code: "RUN_CANCELLED", message: "The run was cancelled." };
    case "timeout":
      return { status: "failed", code: "RUN_TIMEOUT", message: "The run took longer than its time-out." };
    case "budget": {
      const { limitMicro = 0, spentMicro } = state.budget;
      const message = `The budget of ${toUsd(limitMicro)} does not allow another step; ${toUsd(spentMicro)} is spent.`;
      return { status: "budget_exceeded", code: "BUDGET_EXCEEDED", message };
    }
    case undefined:
      break;
  }
  if (root.failure === undefined) return { status: state.partial ? "partial" : "completed" };
  return { status: "failed", code: root.failure.code, message: root.failure.message };
}

function toUsd(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(4)}`;
}
