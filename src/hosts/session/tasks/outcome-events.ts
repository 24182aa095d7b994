import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../../core/exact-json.ts";
import type { QuestionAsked, StepFailed, StepSucceeded } from "../../../core/history/events.ts";
import { asObject, type JsonObject } from "../../../core/json.ts";
import type { Asks, Failed, Outcome, Succeeded } from "../../../ports/executor.ts";
import { joinMissing } from "../values/missing-references.ts";
import type { Projection } from "../values/project-output.ts";
import type { RunningTask } from "./running-task.ts";

type Draft<T> = { -readonly [K in keyof T]: T[K] };

// Written field by field: most outcomes have none of the later fields, and this runs for every step.
export function toSucceededEvent(
  task: RunningTask,
  { costMicro, usage, repaired }: Succeeded,
  {
    at,
    isEmpty,
    projection,
    bytes,
  }: {
    readonly at: number;
    readonly isEmpty: boolean;
    readonly projection: Projection;
    readonly bytes: number | undefined;
  },
): StepSucceeded {
  const { path, attempt, startedAt, inputHash, decisions } = task;
  const event: Draft<StepSucceeded> = { type: "stepSucceeded", at, path, attempt, startedAt, inputHash };
  const waitedMs = task.waitedUntil(at);
  if (waitedMs > 0) event.waitedMs = waitedMs;
  if (isEmpty) event.empty = true;
  if (bytes !== undefined) event.bytes = bytes;
  if (costMicro === null) event.unpriced = true;
  else if (costMicro !== 0) event.costMicro = costMicro;
  if (usage !== undefined) event.usage = usage;
  if (repaired === true) event.repaired = true;
  if (decisions !== undefined) event.policies = decisions;
  if ((task.bound.missing ?? projection.missing) !== undefined)
    Object.assign(event, joinMissing(task.bound.missing, projection.missing));
  if (projection.projected !== undefined) event.projected = projection.projected;
  if (projection.assigned !== undefined) event.assigned = projection.assigned;
  return event;
}

export function toFailedEvent(
  task: RunningTask,
  outcome: Failed,
  { at, mask }: { readonly at: number; mask(text: string): string },
): { readonly event: StepFailed; readonly details: string | undefined; readonly error: JsonObject } {
  const { code, retryable, effect } = outcome;
  const message = mask(outcome.message);
  const details = outcome.details === undefined ? undefined : mask(writeExact(outcome.details));
  const event: StepFailed = {
    type: "stepFailed",
    at,
    path: task.path,
    attempt: task.attempt,
    startedAt: task.startedAt,
    ...waitOf(task, at),
    code,
    message,
    retryable,
    effect,
    ...(outcome.isAnswered === true && { answered: true }),
    inputHash: task.inputHash,
    ...policiesOf(task),
    ...(task.bound.missing === undefined ? {} : { missing: task.bound.missing }),
    ...costOf(outcome),
    ...(outcome.outspent === undefined ? {} : { outspent: {} }),
  };
  const error = { code, message, ...(details === undefined ? {} : { details: parseExact(details) }) };
  return { event, details, error };
}

export function toAskedEvent(
  task: RunningTask,
  outcome: Asks,
  { at, mask }: { readonly at: number; mask(text: string): string },
): QuestionAsked {
  const { path, attempt, startedAt } = task;
  return {
    type: "approvalAsked",
    at,
    path,
    attempt,
    startedAt,
    ...waitOf(task, at),
    message: mask(outcome.message),
    key: outcome.key,
    ...(outcome.allowEdit === true ? { allowEdit: true } : {}),
    ...(outcome.schema === undefined ? {} : { schema: asObject(parseExact(mask(writeExact(outcome.schema)))) }),
    ...policiesOf(task),
    ...costOf(outcome),
  };
}

function waitOf(task: RunningTask, at: number): { readonly waitedMs?: number } {
  const waitedMs = task.waitedUntil(at);
  return waitedMs > 0 ? { waitedMs } : {};
}

/** A key that is answered already would be asked for ever. */
export function refuseQuestion({ path, instance }: RunningTask, { key, costMicro }: Asks): Failed | undefined {
  if (instance.records?.has(key) !== true) return undefined;
  const message = `"${path}" asks again what is recorded as "${key}".`;
  return { status: "failed", code: "EXECUTOR_FAULT", message, retryable: false, effect: "unknown", costMicro };
}

/** What the executor says of it is told where nothing had begun, and where it must not be tried again. */
export function timedOut(
  { path, timeoutMs = 0 }: RunningTask,
  { code, effect, message: said, retryable: mayRetry }: Failed,
): Pick<Failed, "code" | "message" | "retryable" | "effect"> {
  const message = `"${path}" took longer than its time-out of ${timeoutMs / 1000} s.`;
  const retryable = code !== "INTERRUPTED" || mayRetry;
  const isIdle = effect === "none";
  return {
    code: "TIMEOUT",
    message: isIdle || !retryable ? `${message} ${said}` : message,
    retryable,
    effect: isIdle ? "none" : "unknown",
  };
}

export function tooLarge({ costMicro, usage, status }: Succeeded | Asks, maxBytes: number): Failed {
  const what = status === "asks" ? "What a person is to judge" : "The output";
  const message = `${what} is larger than ${maxBytes} bytes.`;
  const spent = { costMicro, usage };
  return { status: "failed", code: "OUTPUT_TOO_LARGE", message, retryable: false, effect: "done", ...spent };
}

/** An executor that throws has a defect, unless its error has a remedy. */
export function toFailed(error: unknown): Failed {
  const code = isPawlError(error) ? error.code : "EXECUTOR_FAULT";
  const message = error instanceof Error ? error.message : String(error);
  return { status: "failed", code, message, retryable: false, effect: "unknown", costMicro: 0 };
}

function policiesOf({ decisions }: RunningTask): Pick<StepFailed, "policies"> {
  return decisions === undefined ? {} : { policies: decisions };
}

function costOf({ costMicro, usage }: Outcome | Asks): Pick<StepFailed, "costMicro" | "unpriced" | "usage"> {
  return { ...(costMicro === null ? { unpriced: true } : costMicro === 0 ? {} : { costMicro }), usage };
}
