import { isEventField, MOST_FIELDS } from "../../core/graph/event-match.ts";
import type { DagFlow, RetryPolicy, Step, Wait } from "../../core/graph/graph.ts";
import { toMilliseconds } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import { COMES_LATE, FORM_WITH_QUORUM } from "../../core/trust/approvers.ts";
import type { StepContext, StepFunction } from "../../ports/step-functions.ts";
import { call as callOf, literal, literalIfAny, toObject } from "../build-expr.ts";
import type { Scope } from "./open-definition.ts";
import {
  AMOUNT,
  ANYTHING,
  COUNT,
  checkOptions,
  DURATION,
  FLAG,
  FUNCTION,
  GIVEN_TEXT,
  NAMES,
  needed,
  oneOf,
  REFERENCES,
  type Rules,
  SCHEMA,
  TEXT,
  TEXTS,
} from "./options.ts";
import { referredBy } from "./reference.ts";
import { toJsonSchema } from "./schema.ts";
import {
  addStep,
  type Bound,
  bindGiven,
  callBack,
  currentScope,
  freeName,
  inFlow,
  invalid,
  keyOf,
  refuseTaken,
  wantFunction,
} from "./scope.ts";
import type {
  Duration,
  Given,
  Output,
  Plain,
  Recorded,
  Ref,
  Retry,
  Schema,
  StepError,
  StepOptions,
  Value,
  WorkOptions,
} from "./types.ts";

export interface RunOptions<F = never, O = unknown> extends WorkOptions<F, O> {
  /** Raised where runs that are under way may not go on with the new function. Default: 1. */
  readonly version?: number;
}

const WORK: Rules<WorkOptions> = {
  after: REFERENCES,
  retry: {
    is: "a whole number from 1, or `{ attempts, backoff, delay, maxDelay }`",
    holds: (value) => COUNT.holds(value) || (typeof value === "object" && value !== null),
  },
  timeout: DURATION,
  fallback: ANYTHING,
  finally: FUNCTION,
  undo: FUNCTION,
  atMostOnce: FLAG,
  maxCost: AMOUNT,
};

/**
 * A step that calls a function in this process, with the values of `input` and nothing else of the run. Its result is
 * recorded: a run that goes on after a crash does not call it again.
 */
export function run<I, R, F = never>(
  name: string,
  input: I,
  does: ((input: Plain<I>, context: StepContext) => R) & Recorded<Awaited<R>>,
  options: RunOptions<F, Output<Awaited<R>>> = {},
): Value<Output<Awaited<R>> | Plain<F>> {
  const scope = currentScope("run");
  checkOptions(`\`${name}\``, options, { ...WORK, version: COUNT });
  wantFunction(does, `The step \`${name}\``);
  const key = freeKey(scope, name);
  const { expr, after } = bindGiven(scope, input, "the input");
  const { version = 1 } = options;
  scope.definition.functions.set(key, { does: does as StepFunction, version });
  const bound = toObject([
    ["function", literal(`${scope.definition.workflow}/${key}`)],
    ["version", literal(version)],
    ["input", expr],
  ]);
  return addWork(scope, { name, options, after }, { kind: "task", executor: "function", input: bound });
}

/** Where a step is found in two flows beside each other, such as a `fallback` and a `finally`, the second has another key. */
function freeKey(scope: Scope, name: string): string {
  let key = keyOf(scope, name);
  while (scope.definition.functions.has(key)) key += "~";
  return key;
}

export interface AgentOptions<O, F = never> extends WorkOptions<F, O> {
  readonly prompt: string | Ref<string>;
  readonly model: string;
  /** What it must answer. Absent: text. */
  readonly output?: Schema<O>;
  readonly maxTurns?: number;
  /** Tools that it may use, as `pawl.yaml` names them. */
  readonly tools?: readonly string[];
}

/** A step that an agent does: its answer in the shape of `output`, or a text. */
export function agent<O = string, F = never>(name: string, options: AgentOptions<O, F>): Value<O | Plain<F>> {
  const scope = currentScope("agent");
  checkOptions(`\`${name}\``, options, {
    ...WORK,
    prompt: needed(GIVEN_TEXT),
    model: needed(TEXT),
    output: SCHEMA,
    maxTurns: COUNT,
    tools: TEXTS,
  });
  const { prompt, model, output, maxTurns, tools, timeout } = options;
  const { expr, after } = bindGiven(scope, prompt, "the prompt");
  const timeoutMs = durationOf(timeout);
  const input = toObject([
    ["prompt", expr],
    ["model", literal(model)],
    ["max_turns", literalIfAny(maxTurns)],
    ["timeout", literalIfAny(timeoutMs === undefined ? undefined : timeoutMs / 1_000)],
    ["output_schema", literalIfAny(output && toJsonSchema(output))],
    ["tools", literalIfAny(tools)],
  ]);
  return addWork(scope, { name, options, after }, { kind: "task", executor: "agent", input });
}

/** A step that calls a tool of an MCP server of the application, `server.tool`. Say what it gives as `tool<Answer>(...)`. */
export function tool<O = unknown, F = never>(
  name: string,
  called: string,
  args: Given<JsonObject>,
  options: WorkOptions<F, O> = {},
): Value<O | Plain<F>> {
  const scope = currentScope("tool");
  checkOptions(`\`${name}\``, options, WORK);
  const [, server, toolName] = /^([^.]+)\.(.+)$/.exec(called) ?? [];
  if (server === undefined || toolName === undefined)
    throw invalid(`\`${called}\` names no tool of a server`, "Write `server.tool`.");
  const { expr, after } = bindGiven(scope, args, "the arguments");
  const input = toObject([
    ["tool", literal(toolName)],
    ["server", literal(server)],
    ["arguments", expr],
  ]);
  return addWork(scope, { name, options, after }, { kind: "task", executor: "mcp", input });
}

/** A workflow that a program or an application has, and what it gives. */
export interface Callable<In, Out> {
  readonly name: string;
  /** For the compiler alone. */
  readonly types?: { readonly input: In; readonly output: Out };
}

/** A step that runs another workflow: one of TypeScript, or the name or the file of one of any dialect. */
export function call<In, Out, F = never>(
  name: string,
  workflow: Callable<In, Out>,
  input: Given<NoInfer<In>>,
  options?: WorkOptions<F, Out>,
): Value<Out | Plain<F>>;
export function call<Out = unknown, F = never>(
  name: string,
  workflow: string,
  input: Given<JsonObject>,
  options?: WorkOptions<F, Out>,
): Value<Out | Plain<F>>;
export function call(
  name: string,
  workflow: Callable<unknown, unknown> | string,
  input: unknown,
  options: Declared["options"] = {},
): Value<unknown> {
  const scope = currentScope("call");
  checkOptions(`\`${name}\``, options, WORK);
  if (!TEXT.holds(typeof workflow === "object" ? workflow?.name : workflow))
    throw invalid(`\`${name}\` names no workflow`, "Give one, its name, or the file of one of any dialect.");
  const { expr, after } = bindGiven(scope, input, "the input");
  const called = literal(typeof workflow === "string" ? workflow : workflow.name);
  return addWork(scope, { name, options, after }, { kind: "call", workflow: called, input: expr });
}

/** Fails the flow that it stands in. A route answers with this code and message. */
export function fail(
  name: string,
  failure: { readonly code: string; readonly message: string | Ref<string>; readonly details?: unknown },
  options: StepOptions = {},
): void {
  const scope = currentScope("fail");
  checkOptions(`\`${name}\``, options, { after: REFERENCES });
  checkOptions(`\`${name}\``, failure, { code: needed(TEXT), message: needed(GIVEN_TEXT), details: ANYTHING });
  const { expr, after } = bindGiven(scope, failure, "the failure");
  addWork(scope, { name, options, after }, { kind: "task", executor: "fail", input: expr });
}

export interface ApprovalOptions<F, Late = "fail" | "skip"> extends StepOptions {
  /** Default: the step's name. */
  readonly message?: string | Ref<string>;
  /** What the person judges. */
  readonly show?: unknown;
  /** What the person may change of it, or fill in. */
  readonly form?: Schema<F>;
  /** Who may answer: names of people, keys or groups. Default: whoever may answer runs. */
  readonly approvers?: readonly string[];
  /** How many different people must approve; one no is a no. Default: one. */
  readonly quorum?: number;
  /** Whoever has asked for the run may not answer. */
  readonly notRequester?: boolean;
  /** Webhooks of the question are told again; `every`: as `after` where it is absent. */
  readonly reminder?: { readonly after: Duration; readonly every?: Duration; readonly times: number };
  /** Then these may answer too, with `replaces` they alone. */
  readonly escalation?: { readonly after: Duration; readonly to: readonly string[]; readonly replaces?: boolean };
  readonly timeout?: Duration;
  /** `skip`: the answer is null. Default: the run fails. */
  readonly onTimeout?: Late;
  /** False: what is declared after it does not wait for the answer. */
  readonly gate?: boolean;
}

/** Waits for a person's yes. Whatever the scope declares after it waits too. */
export function approval<F = { readonly approved: true }, Late extends "fail" | "skip" = "fail">(
  name: string,
  options: ApprovalOptions<F, Late> = {},
): Value<F | ("skip" extends Late ? null : never)> {
  const scope = currentScope("approval");
  checkOptions(`\`${name}\``, options, {
    after: REFERENCES,
    message: GIVEN_TEXT,
    show: ANYTHING,
    form: SCHEMA,
    approvers: NAMES,
    quorum: COUNT,
    notRequester: FLAG,
    reminder: ANYTHING,
    escalation: ANYTHING,
    timeout: DURATION,
    onTimeout: oneOf("fail", "skip"),
    gate: FLAG,
  });
  const { message = name, show, form, approvers, quorum, notRequester, timeout, onTimeout, gate = true } = options;
  if (form !== undefined && (quorum ?? 1) > 1)
    throw invalid(`\`${name}\`: ${FORM_WITH_QUORUM.message}`, FORM_WITH_QUORUM.remedy);
  const text = bindGiven(scope, message, "the message");
  const shown = show === undefined ? undefined : bindGiven(scope, show, "what is shown");
  const timeoutMs = durationOf(timeout);
  const step = addWork<F>(
    scope,
    { name, options, after: [...text.after, ...(shown?.after ?? [])] },
    {
      kind: "approve",
      message: text.expr,
      ...(shown === undefined ? {} : { show: shown.expr }),
      ...(form === undefined ? {} : { allowEdit: true, schema: toJsonSchema(form) }),
      ...(approvers === undefined ? {} : { approvers }),
      ...(quorum === undefined ? {} : { quorum }),
      ...(notRequester === true ? { notRequester } : {}),
      ...readNudges(name, options),
      ...(timeoutMs === undefined
        ? {}
        : { approvalTimeoutMs: timeoutMs, onApprovalTimeout: onTimeout === "skip" ? "skip" : "abort" }),
    },
  );
  if (gate) scope.gates.push(name);
  return step;
}

function readNudges<F>(name: string, { reminder, escalation, timeout }: ApprovalOptions<F>) {
  const after = needed(DURATION);
  const rules = { after, every: DURATION, times: needed(COUNT) };
  if (reminder !== undefined) checkOptions(`\`reminder\` of \`${name}\``, reminder, rules);
  if (escalation !== undefined)
    checkOptions(`\`escalation\` of \`${name}\``, escalation, { after, to: needed(NAMES), replaces: FLAG });
  const read = {
    reminder: reminder && {
      afterMs: durationOf(reminder.after) ?? 0,
      everyMs: durationOf(reminder.every),
      times: reminder.times,
    },
    escalation: escalation && {
      afterMs: durationOf(escalation.after) ?? 0,
      to: escalation.to,
      replaces: escalation.replaces === true,
    },
  };
  const endsAfterMs = durationOf(timeout) ?? Number.POSITIVE_INFINITY;
  if (Object.values(read).some((each) => each !== undefined && each.afterMs >= endsAfterMs))
    throw invalid(`\`${name}\`: ${COMES_LATE.message}`, COMES_LATE.remedy);
  return read;
}

/** How long, until when, or for which event a run waits. A duration may be a reference too. */
export type Waiting =
  | Duration
  | { readonly for: Ref<Duration> }
  | { readonly until: string | Ref<string> }
  | { readonly event: string | Ref<string>; readonly match?: undefined; readonly timeout?: Duration }
  /** The event is known by these fields of its payload, such as `order.id`, from wherever it comes. */
  | { readonly event: string; readonly match: EventFields; readonly timeout?: Duration };

interface EventFields {
  readonly [field: string]: EventField | Ref<EventField>;
}

type EventField = string | number | boolean;

/** Waits, for a time or an event, without a process. Whatever the scope declares after it waits too. Of an event: its payload. */
export function wait<T = null>(
  name: string,
  waiting: Waiting,
  options: StepOptions & { readonly gate?: boolean } = {},
): Value<T> {
  const scope = currentScope("wait");
  checkOptions(`\`${name}\``, options, { after: REFERENCES, gate: FLAG });
  if (!TEXT.holds(waiting) && (typeof waiting !== "object" || waiting === null))
    throw invalid(`\`${name}\` does not say what it waits for`, 'Write `"2h"`, `{ until }`, `{ event }` or `{ for }`.');
  const { wait: awaited, after } = lowerWait(scope, waiting);
  const step = addWork<T>(scope, { name, options, after }, { kind: "wait", wait: awaited });
  if (options.gate !== false) scope.gates.push(name);
  return step;
}

function lowerWait(scope: Scope, waiting: Waiting): { readonly wait: Wait; readonly after: readonly string[] } {
  if (typeof waiting === "string")
    return { wait: { for: "duration", durationMs: literal(durationOf(waiting) ?? 0) }, after: [] };
  if ("until" in waiting) {
    const { expr, after } = bindGiven(scope, waiting.until, "the time");
    return { wait: { for: "instant", at: expr }, after };
  }
  if ("event" in waiting) {
    const { expr, after } = bindGiven(scope, waiting.event, "the event");
    const timeoutMs = durationOf(waiting.timeout);
    const timeout = timeoutMs === undefined ? {} : { timeoutMs };
    if (waiting.match === undefined) return { wait: { for: "event", name: expr, ...timeout }, after };
    const fields = Object.entries(waiting.match).map(
      ([field, value]) => [field, bindGiven(scope, value, `\`${field}\``)] as const,
    );
    if (fields.length === 0 || fields.length > MOST_FIELDS)
      throw invalid("`match` names no fields, or too many", `Name 1 to ${MOST_FIELDS} of the payload.`);
    const odd = fields.find(([field]) => !isEventField(field));
    if (odd !== undefined)
      throw invalid(`\`${odd[0]}\` of \`match\` is no path of a field`, "Write it as `order_id` or `order.id`.");
    if (expr.op !== "literal") throw invalid("An event beside `match` has no fixed name", "Write its name as a text.");
    const match = Object.fromEntries(fields.map(([field, bound]) => [field, bound.expr]));
    return {
      wait: { for: "event", name: expr, match, ...timeout },
      after: [...after, ...fields.flatMap(([, bound]) => bound.after)],
    };
  }
  const { expr, after } = bindGiven(scope, waiting.for, "the duration");
  return { wait: { for: "duration", durationMs: callOf("toMilliseconds", expr) }, after };
}

interface Declared {
  readonly name: string;
  readonly options: Omit<WorkOptions<unknown>, "undo"> & { undo?(output: never): void };
  readonly after: Bound["after"];
}

// An omit of each kind of step for itself.
type Doing = Step extends infer Each ? (Each extends Step ? Omit<Each, "id" | "after" | "place"> : never) : never;

/** Declares a step with what all of them may say. */
export function addWork<T>(scope: Scope, { name, options, after }: Declared, doing: Doing): Value<T> {
  refuseTaken(scope, name);
  const named = options.after === undefined ? [] : bindGiven(scope, options.after, "`after`").after;
  const { retry, timeout, maxCost, atMostOnce, fallback, finally: last, undo } = options;
  const timeoutMs = durationOf(timeout);
  const step = addStep<T>(scope, {
    ...doing,
    id: name,
    after: [...after, ...named],
    ...(retry === undefined ? {} : { retry: retryOf(retry) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxCost === undefined ? {} : { maxCostMicro: Math.round(maxCost * 1_000_000) }),
    ...(atMostOnce === true ? { atMostOnce } : {}),
    ...(fallback === undefined ? {} : { catch: catchFlow(scope, name, fallback) }),
    ...(last === undefined ? {} : { finally: inFlow(scope, name, (inner) => callBack(inner, last)).flow }),
  });
  if (undo !== undefined)
    scope.undos.push({
      step: name,
      flow: inFlow(scope, `undo-${name}`, (inner) => callBack(inner, undo, step as never)).flow,
    });
  return step;
}

function catchFlow(scope: Scope, name: string, fallback: unknown): DagFlow {
  return inFlow(scope, name, (inner) => {
    if (typeof fallback !== "function" || referredBy(fallback) !== undefined) return fallback;
    // As the output of a step, which flows within this one see beside failures of their own.
    const error = addStep<StepError>(inner, {
      id: freeName(inner, "error"),
      kind: "set",
      value: { op: "path", root: "error", path: [] },
    });
    return callBack(inner, fallback as (error: Value<StepError>) => unknown, error);
  }).flow;
}

function retryOf(retry: number | Retry): RetryPolicy {
  if (typeof retry === "object") {
    const backoff = oneOf("fixed", "linear", "exponential");
    checkOptions("`retry`", retry, { attempts: needed(COUNT), backoff, delay: DURATION, maxDelay: DURATION });
  }
  const {
    attempts,
    backoff = "exponential",
    delay = "1s",
    maxDelay = "5m",
  } = typeof retry === "number" ? { attempts: retry } : retry;
  return {
    maxAttempts: attempts,
    backoff,
    initialMs: durationOf(delay) ?? 0,
    maxMs: durationOf(maxDelay) ?? 0,
    jitter: 0.2,
  };
}

export function durationOf(duration: Duration | undefined): number | undefined {
  if (duration === undefined) return undefined;
  const ms = /[a-z]/.test(duration) ? toMilliseconds(duration) : undefined;
  if (ms !== undefined) return ms;
  throw invalid(`\`${duration}\` is no duration`, "Write it with its unit: `90s`, `5m`, `1h30m`, `2d`.");
}
