import type { RunResumed, RunStarted } from "../../history/events.ts";
import type { Frame } from "../../history/run-state.ts";
import { releaseInstance } from "../attempt/crashes.ts";
import { toAmounts } from "../budget/use-limits.ts";
import { openScope } from "../flow/open-scope.ts";
import { BUDGET_TIMER, RUN_TIMER, startTimer } from "../timers.ts";
import type { Turn } from "../turn.ts";

export function applyRunStarted(turn: Turn, event: RunStarted): void {
  const { state } = turn;
  const { limits } = state.graph.graph;
  state.runId = event.runId;
  state.workflow = event.workflow;
  state.startedAt = event.at;
  state.phase = "open";
  state.reusesOutcomes = event.lineage !== undefined;
  setLimits(turn, event);
  const { maxDurationMs } = state.budget.uses;
  if (maxDurationMs !== undefined) startTimer(turn, BUDGET_TIMER, state.now + maxDurationMs);
  if (limits.timeoutMs !== undefined) startTimer(turn, RUN_TIMER, state.now + limits.timeoutMs);
  const frame: Frame = {
    graph: state.graph,
    inputHandle: turn.seq,
    inputNames: new Set(event.inputNames),
    known: event.projected,
    depth: 0,
    deepest: 0,
    timeoutMs: undefined,
  };
  state.root = openScope(turn, { path: "", role: "root", frame, flow: state.graph.root, parent: undefined });
}

function setLimits({ state: { budget, graph } }: Turn, { maxCostMicro, uses = {}, onExceeded }: RunStarted): void {
  const limitMicro = maxCostMicro ?? graph.graph.limits.maxCostMicro;
  if (onExceeded === "ask") {
    budget.set = toAmounts(limitMicro, uses);
    budget.asks = budget.set;
  } else {
    budget.limitMicro = limitMicro;
    budget.uses = uses;
  }
}

export function applyRunHeld({ state }: Turn): void {
  if (state.phase !== "open") return;
  state.isSuspended = true;
  state.isHeld = true;
}

/** Parked tasks go on, in the order in which they had begun; held ones only where a person wants it. */
export function applyRunResumed(turn: Turn, { releases }: RunResumed): void {
  turn.state.isSuspended = false;
  turn.state.isHeld = false;
  turn.hasRoom = true;
  for (const instance of turn.state.active.values()) {
    if (releases === true) releaseInstance(turn, instance);
    if (instance.phase === "parked") turn.work.push({ type: "redispatch", instance });
  }
}

export function applyRunFinished(turn: Turn): void {
  turn.state.phase = "finished";
}
