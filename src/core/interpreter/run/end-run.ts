import { writeMicro } from "../../amounts.ts";
import type { RunState, Scope } from "../../history/run-state.ts";
import { explainUsed } from "../budget/paid-calls.ts";
import { findUsedUp } from "../budget/use-limits.ts";
import type { Turn } from "../turn.ts";

/** The root has ended, if there is one: the run will, as soon as that is recorded. */
export function endRun(turn: Turn, root?: Scope): void {
  const { state } = turn;
  if (state.phase !== "open") return;
  state.phase = "finishing";
  state.later.clear();
  state.ending = endingOf(state, root);
  for (const timer of [...state.timers.keys()]) {
    state.timers.delete(timer);
    turn.commands.push({ type: "stopTimer", timer });
  }
  turn.commands.push({ type: "finishRun", ...state.ending });
}

function endingOf(state: RunState, root: Scope | undefined): NonNullable<RunState["ending"]> {
  switch (state.stopping) {
    case "cancelled":
      return { status: "cancelled", code: "RUN_CANCELLED", message: "The run was cancelled." };
    case "timeout":
      return { status: "failed", code: "RUN_TIMEOUT", message: "The run took longer than its time-out." };
    case "budget": {
      const message = explainBudget(state);
      return { status: "budget_exceeded", code: "BUDGET_EXCEEDED", message };
    }
    case undefined:
      break;
  }
  if (root?.failure === undefined) return { status: state.partial ? "partial" : "completed" };
  return { status: "failed", code: root.failure.code, message: root.failure.message };
}

function explainBudget({ budget, now, startedAt }: RunState): string {
  if (budget.exhausted !== undefined) return budget.exhausted;
  const { maxDurationMs } = budget.uses;
  if (maxDurationMs !== undefined && now - startedAt >= maxDurationMs)
    return `The run has taken the ${maxDurationMs / 1_000} s that it may take.`;
  const usedUp = findUsedUp(budget);
  if (usedUp?.of === "tokens") return `The run has used ${usedUp.used} tokens and may use ${usedUp.limit}.`;
  if (usedUp?.of === "tries") return `The run has made the ${usedUp.limit} tries of steps that it may make.`;
  return `The budget of ${writeMicro(budget.limitMicro ?? 0)} does not allow another step; ${explainUsed(budget)}.`;
}
