import { SINGLE } from "../../src/core/graph/shape.ts";
import type { Command } from "../../src/core/history/commands.ts";
import {
  type Instance,
  type RunState,
  type Scope,
  SINGLE_ITEM,
  type StepState,
} from "../../src/core/history/run-state.ts";
import type { StoredEvent } from "./core-host.ts";

/** What holds after every event, whatever the graph. */
export function checkInvariants(state: RunState, events: readonly StoredEvent[]): void {
  check(state.seq === events.length, "sequence numbers are dense");
  const instances = [...state.active.values()];
  const count = (phase: string) => instances.filter((instance) => instance.phase === phase).length;
  check(
    state.tasksInFlight === count("dispatched"),
    `tasksInFlight ${state.tasksInFlight} is not ${count("dispatched")}`,
  );
  check(state.approvalsOpen === count("approval"), "approvalsOpen agrees with the instances");
  check(state.stepsHeld === count("held"), "stepsHeld agrees with the instances");
  const waiting = instances.filter(({ phase, signal }) => phase === "waiting" && signal !== undefined).length;
  const listed = [...state.waiters.values()].reduce((sum, waiters) => sum + waiters.size, 0);
  check(waiting === listed, `${listed} waiters are listed, ${waiting} wait`);
  for (const instance of instances) checkInstance(state, instance);
  checkAsking(instances);
  for (const timer of state.timers.keys()) checkTimer(state, timer);
  if (state.phase === "open") {
    check(state.later.size === 0 || state.timers.has("@later"), "a timer begins what was put off");
    const isWaitedFor = state.later.size > 0 || instances.some((instance) => isCared(state, instance));
    check(state.isSuspended || isWaitedFor, "somebody is responsible");
  } else if (state.phase !== "new") checkEmpty(state);
}

/** Whoever waits for an answer, or has one and waits for a place, is counted as such; and only a task asks. */
function checkAsking(instances: readonly Instance[]): void {
  const asking = new Map<StepState, number>();
  for (const { path, scope, step, phase, question } of instances) {
    const state = scope.steps[step.index];
    if (state === undefined) continue;
    asking.set(state, (asking.get(state) ?? 0) + (question === undefined ? 0 : 1));
    const asks = phase === "answered" || phase === "held" || (phase === "approval" && step.step.kind === "task");
    check(asks === (question !== undefined), `${path} is ${phase} with ${question?.key ?? "no question"}`);
  }
  for (const [state, count] of asking) check(state.asking === count, `${state.asking} are counted, ${count} ask`);
}

/** What a start needs, read from the graph rather than from what the interpreter counts. */
export function checkStart(state: RunState, command: Command): void {
  if (!("instance" in command) || command.type === "projectStep") return;
  const { instance } = command;
  const { scope } = instance;
  // Another event of the same moment may have ended it: then the host's answer is ignored.
  if (state.active.get(instance.path) !== instance) return;
  const { step } = instance.step;
  for (const need of scope.flow.flow.kind === "dag" ? (step.after ?? []) : []) checkNeed(scope, instance, need);
  if (state.stopping === "cancelled" || state.stopping === "timeout") {
    check(isInFinally(scope), `${instance.path} starts after the run was stopped`);
  }
  const window = step.each?.maxConcurrent;
  const running = scope.steps[instance.step.index]?.running ?? 0;
  const asking = scope.steps[instance.step.index]?.asking ?? 0;
  if (window !== undefined) check(running - asking <= window, `${instance.path} starts outside its window`);
}

function checkNeed(scope: Scope, instance: Instance, need: string): void {
  const index = scope.flow.indexOf.get(need) ?? -1;
  const needed = scope.steps[index];
  const domain = scope.shape[instance.step.index] ?? SINGLE;
  const isInside = domain !== SINGLE && scope.shape[index] === domain;
  const hasEnded = (status: string | undefined) => status !== undefined && status !== "pending" && status !== "running";
  const isMet = isInside
    ? hasEnded(needed?.status[instance.item])
    : needed?.status.every(hasEnded) && needed.items !== -2;
  check(isMet === true, `${instance.path} starts before ${need} has ended`);
}

function checkInstance(state: RunState, instance: Instance): void {
  const { path, scope, phase } = instance;
  check(scope.live.has(instance), `${path} lives in its scope`);
  check(scope.phase !== "ended", `${path} lives in a scope that has ended`);
  check(scope.parent === undefined || state.active.get(scope.parent.path) === scope.parent, `${path} has a parent`);
  if (phase === "blocked")
    check(
      state.tasksInFlight > 0 || state.isSuspended || state.budget.question !== undefined,
      `${path} is held back by nobody`,
    );
  if (phase === "body" || phase === "catch" || phase === "finally") {
    check(instance.child !== undefined && instance.child.phase !== "ended", `${path} has a child`);
  }
  const status = scope.steps[instance.step.index]?.status[instance.item === SINGLE_ITEM ? 0 : instance.item];
  check(status === "running", `${path} is active and ${String(status)}`);
}

function checkTimer(state: RunState, timer: string): void {
  const path = timer.slice(0, timer.lastIndexOf("@"));
  check(path === "" || state.active.has(path), `timer ${timer} has somebody to wake`);
}

/** Whoever is open waits for something that will come. */
function isCared(state: RunState, { phase, path, attempt, signal }: Instance): boolean {
  switch (phase) {
    case "dispatched":
    case "binding":
    case "projecting":
    case "approval":
    case "parked":
    case "held":
      return true;
    case "backoff":
      return state.timers.has(`${path}@retry${attempt}`);
    case "waiting":
      return signal !== undefined || state.timers.has(`${path}@wait`);
    case "blocked":
    case "answered":
    case "body":
    case "catch":
    case "finally":
      return false;
  }
}

function checkEmpty(state: RunState): void {
  const { active, timers, waiters, blocked, tasksInFlight, approvalsOpen, stepsHeld } = state;
  const left = [active.size, timers.size, waiters.size, blocked.size, tasksInFlight, approvalsOpen, stepsHeld];
  check(
    left.every((size) => size === 0),
    `something is left after the end: ${left.join(", ")}`,
  );
}

function isInFinally(scope: Scope): boolean {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent?.scope)
    if (at.role === "finally") return true;
  return false;
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Invariant: ${what}`);
}
