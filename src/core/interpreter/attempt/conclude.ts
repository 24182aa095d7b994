import type { RetryPolicy } from "../../graph/graph.ts";
import type { IndexedFlow } from "../../graph/indexed-graph.ts";
import type { StepProjected } from "../../history/events.ts";
import type { Failure, Handle, Instance, InstanceOutcome, Scope } from "../../history/run-state.ts";
import type { JsonObject } from "../../json.ts";
import { noteFailure } from "../flow/losses.ts";
import { openScope } from "../flow/open-scope.ts";
import { settleInstance } from "../flow/settle.ts";
import { seeVariable, viewOf } from "../lookup.ts";
import { type CallEnd, isReported, reportOn } from "../step-kinds/report-call.ts";
import { startTimer, stopTimersOf, timerOf } from "../timers.ts";
import type { Turn } from "../turn.ts";

/** An outcome whose projections came with it: a task, or a value that the host computed. */
export interface Projected {
  readonly projected?: JsonObject;
  readonly assigned?: JsonObject;
}

/** The instance has its value, together with what control and variables read of it. */
export function succeedProjected(turn: Turn, instance: Instance, handle: Handle, projected: Projected): void {
  assignVariables(turn, instance, projected.assigned);
  concludeInstance(turn, instance, { status: "succeeded", handle, known: projected.projected });
}

/** The instance has its value; if control or variables read it, the host is asked what they see. */
export function succeedInstance(turn: Turn, instance: Instance, handle: Handle): void {
  project(turn, instance, { status: "succeeded", handle, known: undefined });
}

/** The attempt has failed: another one, the `catch`, or the end of the instance. */
export function failInstance(
  turn: Turn,
  instance: Instance,
  failure: Failure,
  options: { readonly mayRetry: boolean; readonly projected?: Projected; readonly body?: Scope },
): void {
  // It was told to stop: its end is no failure of its own.
  if (instance.scope.phase === "cancelling") return concludeInstance(turn, instance, { status: "cancelled" });
  if (options.mayRetry && retries(turn, instance, failure)) return;
  if (isReported(instance)) {
    const end: CallEnd = { scope: options.body, output: 0, failure, now: turn.state.now };
    return succeedInstance(turn, instance, reportOn(instance, end));
  }
  instance.failure = failure;
  const caught = instance.step.catch;
  if (caught !== undefined && instance.phase !== "catch" && instance.scope.phase === "open")
    return openBeside(turn, instance, "catch", caught);
  assignVariables(turn, instance, options.projected?.assigned);
  const outcome: InstanceOutcome = { status: "failed", failure, known: options.projected?.projected };
  if (options.projected === undefined) project(turn, instance, outcome);
  else concludeInstance(turn, instance, outcome);
}

/** The outcome stands; `finally` runs before it counts. */
export function concludeInstance(turn: Turn, instance: Instance, outcome: InstanceOutcome): void {
  stopTimersOf(turn, instance);
  const last = instance.step.finally;
  if (last === undefined || instance.phase === "finally" || instance.attempt === 0) {
    if (outcome.status === "failed") {
      const { code, message } = outcome.failure;
      noteFailure(turn, instance.scope, { path: instance.path, code, message });
    }
    settleInstance(turn, instance, outcome);
    return;
  }
  instance.outcome = outcome;
  openBeside(turn, instance, "finally", last);
}

function openBeside(turn: Turn, instance: Instance, role: "catch" | "finally", flow: IndexedFlow): void {
  instance.phase = role;
  const { frame } = instance.scope;
  instance.child = openScope(turn, { path: `${instance.path}~${role}`, role, frame, flow, parent: instance });
}

export function applyStepProjected(turn: Turn, event: StepProjected): void {
  const instance = turn.state.active.get(event.path);
  if (instance?.phase !== "projecting" || instance.outcome === undefined) return;
  const { outcome } = instance;
  instance.outcome = undefined;
  assignVariables(turn, instance, event.assigned);
  concludeInstance(turn, instance, "known" in outcome ? { ...outcome, known: event.projected } : outcome);
}

function project(turn: Turn, instance: Instance, outcome: InstanceOutcome): void {
  if (!instance.step.needsProjection || instance.scope.phase !== "open") {
    concludeInstance(turn, instance, outcome);
    return;
  }
  instance.phase = "projecting";
  instance.outcome = outcome;
  turn.commands.push({ type: "projectStep", instance, attempt: instance.attempt });
}

/** A variable is set where it is declared; an undeclared one belongs to the flow of the step. */
function assignVariables(turn: Turn, instance: Instance, assigned: JsonObject | undefined): void {
  if (assigned === undefined) return;
  for (const [name, value] of Object.entries(assigned)) {
    const { variables, flow } = seeVariable(viewOf(instance), name) ?? instance.scope;
    variables.set(name, { seq: turn.seq, value: flow.controlVariables.has(name) ? value : undefined });
  }
}

/** True: there will be another attempt. When, is decided here and recorded. */
function retries(turn: Turn, instance: Instance, { code }: Failure): boolean {
  const policy = instance.step.step.retry;
  if (policy === undefined || instance.scope.phase !== "open") return false;
  if (policy.onCodes?.includes(code) === false) return false;
  instance.failures += 1;
  if (instance.failures >= policy.maxAttempts) return false;
  const { state } = turn;
  const retryAt = turn.decisions.decide(
    () => state.now + computeRetryDelayMs(policy, instance.failures, `${state.runId} ${instance.path}`),
  );
  instance.phase = "backoff";
  if (retryAt <= state.now) turn.work.push({ type: "redispatch", instance });
  else startTimer(turn, timerOf(instance, "retry"), retryAt);
  return true;
}

/** How long to wait after the given number of failures. Jitter is drawn from the seed: equal runs wait equally long. */
function computeRetryDelayMs(policy: RetryPolicy, failures: number, seed: string): number {
  const spread = policy.jitter * (drawFraction(`${seed} ${failures}`) * 2 - 1);
  const delayMs = Math.min(baseDelayMs(policy, failures) * (1 + spread), policy.maxMs);
  return Math.max(0, Math.round(delayMs));
}

function baseDelayMs({ backoff, initialMs, maxMs }: RetryPolicy, failures: number): number {
  switch (backoff) {
    case "fixed":
      return initialMs;
    case "linear":
      return Math.min(initialMs * failures, maxMs);
    case "exponential":
      return Math.min(initialMs * 2 ** Math.min(failures - 1, 52), maxMs);
  }
}

/** FNV-1a with a final mix: a number in [0, 1) that looks drawn and is the same every time. */
function drawFraction(seed: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < seed.length; i += 1) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
