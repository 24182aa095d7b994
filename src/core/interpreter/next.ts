import type { Command } from "../history/commands.ts";
import type { Event } from "../history/events.ts";
import type { Instance, RunState, Scope } from "../history/run-state.ts";
import type { Json } from "../json.ts";
import { applyEvent } from "./apply-event.ts";
import { unblock } from "./attempt/admission.ts";
import { concludeInstance } from "./attempt/conclude.ts";
import { closeScope } from "./flow/close-scope.ts";
import { endScope } from "./flow/end-scope.ts";
import { failScope, markLosses } from "./flow/losses.ts";
import { newStepState } from "./flow/open-scope.ts";
import { openStep } from "./flow/open-step.ts";
import { settleItem, settleStep } from "./flow/settle.ts";
import { beginInstance, startItems } from "./flow/start-item.ts";
import { newTurn, type Turn, type Work } from "./turn.ts";

export interface Step {
  /** To be performed only after the event is durable. */
  readonly commands: readonly Command[];
  /** To be stored with the event: a rebuild reads them. */
  readonly decided: readonly Json[];
}

/**
 * Applies one event to the state, in place, and decides what must happen next. Deterministic: equal history, equal
 * commands. Costs what the event makes ready, whatever the length of the history.
 */
export function next(state: RunState, event: Event): Step {
  return turn(state, event, undefined);
}

/**
 * Applies a stored event: its recorded decisions stand, nothing is evaluated. Returns the commands that it caused, which were
 * performed before unless no process has driven the run since.
 */
export function refold(state: RunState, event: Event): readonly Command[] {
  return turn(state, event, event.decided ?? []).commands;
}

function turn(state: RunState, event: Event, recorded: readonly Json[] | undefined): Step {
  state.seq += 1;
  if (event.at > state.now) state.now = event.at;
  if ("bytes" in event && event.bytes !== undefined) state.storedBytes += event.bytes;
  const turn = newTurn(state, recorded);
  applyEvent(turn, event);
  drainWork(turn);
  return { commands: turn.commands, decided: turn.decisions.taken };
}

/** Does what an event has made ready, first in, first out, until nothing is left. Closing goes first, unblocking last. */
function drainWork(turn: Turn): void {
  for (;;) {
    const scope = turn.closing.shift();
    const work = scope === undefined ? turn.work.shift() : undefined;
    if (scope !== undefined) closeScope(turn, scope);
    else if (work !== undefined) perform(turn, work);
    else if (turn.hasRoom) {
      turn.hasRoom = false;
      unblock(turn);
    } else return;
  }
}

function perform(turn: Turn, work: Work): void {
  switch (work.type) {
    case "openStep":
      return openStep(turn, work.scope, work.step);
    case "settleStep":
      return settleStep(turn, work.scope, work.step);
    case "startItems":
      return startItems(turn, work);
    case "skipItem":
      return settleItem(turn, work, { status: "skipped" });
    case "visitStep":
      return visitStep(turn, work.scope, work.step);
    case "redispatch":
      return redispatch(turn, work.instance);
    case "endScope":
      return endScope(turn, work.scope);
  }
}

/** Another attempt, unless the instance has ended meanwhile or its flow takes nothing new. */
function redispatch(turn: Turn, instance: Instance): void {
  if (turn.state.active.get(instance.path) !== instance) return;
  if (instance.scope.phase === "open") beginInstance(turn, instance);
  else concludeInstance(turn, instance, { status: "cancelled" });
}

const DEFAULT_MAX_VISITS = 100_000;

/** A machine goes to a step. Only the latest visit of each step stays in memory. */
function visitStep(turn: Turn, scope: Scope, step: number): void {
  if (scope.phase !== "open") return;
  const limit = visitLimitReached(turn, scope);
  if (limit !== undefined) {
    failScope(turn, scope, { code: "MAX_VISITS", message: explainLimit(scope, step, limit), seq: 0 });
    return;
  }
  turn.state.visits += 1;
  scope.visits += 1;
  scope.visited = step;
  const prior = scope.steps[step];
  if (prior !== undefined) prior.prior = undefined;
  const state = newStepState((prior?.visit ?? 0) + 1, prior);
  state.lossesBefore = markLosses(turn, scope);
  scope.steps[step] = state;
  openStep(turn, scope, step);
}

function visitLimitReached(turn: Turn, scope: Scope): number | undefined {
  const flow = scope.flow.flow;
  const own = flow.kind === "machine" ? flow.maxVisits : undefined;
  if (own !== undefined && scope.visits >= own) return own;
  const all = turn.state.graph.graph.limits.maxVisits ?? DEFAULT_MAX_VISITS;
  return turn.state.visits >= all ? all : undefined;
}

function explainLimit(scope: Scope, step: number, limit: number): string {
  const { flow } = scope.flow;
  if (flow.kind === "machine" && flow.maxVisits === limit && flow.tooManyVisits !== undefined)
    return flow.tooManyVisits;
  const id = scope.flow.steps[step]?.step.id ?? "";
  return `${limit} steps were visited; the next would be "${id}". Visited most: ${mostVisited(scope)}.`;
}

function mostVisited(scope: Scope): string {
  const visits = scope.flow.steps.map(({ step, index }) => ({ id: step.id, count: scope.steps[index]?.visit ?? 0 }));
  visits.sort((a, b) => b.count - a.count);
  return visits
    .slice(0, 3)
    .filter(({ count }) => count > 0)
    .map(({ id, count }) => `"${id}" ${count} times`)
    .join(", ");
}
