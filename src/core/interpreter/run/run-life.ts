import type { RunResumed, RunStarted, TimerFired } from "../../history/events.ts";
import type { Frame } from "../../history/run-state.ts";
import { releaseInstance } from "../attempt/crashes.ts";
import { toAmounts } from "../budget/use-limits.ts";
import { openScope } from "../flow/open-scope.ts";
import { BUDGET_TIMER, RUN_TIMER, START_TIMER, startTimer } from "../timers.ts";
import type { Turn } from "../turn.ts";

export function applyRunStarted(turn: Turn, event: RunStarted): void {
  const { state } = turn;
  state.runId = event.runId;
  state.workflow = event.workflow;
  state.phase = "open";
  state.reusesOutcomes = event.lineage !== undefined;
  state.place = event.place;
  setLimits(turn, event);
  state.queued = event;
  if (event.place === undefined) beginInSlot(turn, event);
}

function beginInSlot(turn: Turn, event: RunStarted): void {
  const { at, rate, place } = event;
  if (rate === undefined && place?.waitMs === undefined) return begin(turn, event);
  startTimer(turn, START_TIMER, Math.max(turn.state.now, rate?.startsAt ?? 0, at + (place?.waitMs ?? 0)));
}

/** The host has asked whether it may begin by now. */
export function applySlotReached(turn: Turn, { again }: TimerFired): void {
  if (again !== undefined) startTimer(turn, START_TIMER, again);
  else if (turn.state.queued?.type === "runStarted") begin(turn, turn.state.queued);
}

/** The first event of a run holds its input. */
const STARTED = 1;

function begin(turn: Turn, event: RunStarted): void {
  const { state } = turn;
  const { limits } = state.graph.graph;
  state.queued = undefined;
  state.startedAt = state.now;
  const { maxDurationMs } = state.budget.uses;
  if (maxDurationMs !== undefined) startTimer(turn, BUDGET_TIMER, state.now + maxDurationMs);
  if (limits.timeoutMs !== undefined) startTimer(turn, RUN_TIMER, state.now + limits.timeoutMs);
  const frame: Frame = {
    graph: state.graph,
    inputHandle: STARTED,
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

export function applyRunResumed(turn: Turn, event: RunResumed): void {
  if (event.queues === true) turn.state.queued = event;
  else goOn(turn, event);
}

export function applyPlaceTaken(turn: Turn): void {
  const { queued } = turn.state;
  if (queued?.type === "runStarted") return beginInSlot(turn, queued);
  turn.state.queued = undefined;
  if (queued !== undefined) goOn(turn, queued);
}

/** Parked tasks go on, in the order in which they had begun; held ones only where a person wants it. */
function goOn(turn: Turn, { releases }: RunResumed): void {
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
