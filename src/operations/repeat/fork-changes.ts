import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";

/** The changes of a fork in one step, with the names that definitions and clients use. */
export interface StepChange {
  readonly model?: string;
  readonly prompt?: string;
  readonly max_turns?: number;
  readonly max_cost_usd?: number;
  /** Seconds. */
  readonly timeout?: number;
}

/** All changes of a fork. */
export interface ForkChanges {
  /** Values that take the place of those in the run's input, name by name. */
  readonly input: JsonObject;
  /** The limit of the new run. Reused steps count nothing. */
  readonly limits: ChangedLimits;
  /** The time limit of the run, in seconds. */
  readonly timeout: number | undefined;
  /** By id, or by the path of ids where an id stands more than once. */
  readonly steps: ReadonlyMap<string, StepChange>;
}

/** The changes as a request writes them. Absent ones stay as they were. */
export interface ChangedLimits {
  readonly max_cost_usd?: number;
  readonly max_tokens?: number;
  readonly max_steps?: number;
  readonly max_seconds?: number;
  readonly on_exceeded?: "stop" | "ask";
}

const LIMIT_FIELDS = ["max_cost_usd", "max_tokens", "max_steps", "max_seconds", "on_exceeded"] as const;
const STEP_FIELDS = ["model", "prompt", "max_turns", "max_cost_usd", "timeout"] as const;
const OF_TARGET = ["model", "prompt", "max_turns"] as const;
const RUN_FIELDS = ["input", "limits", "max_cost_usd", "timeout", "steps", ...OF_TARGET] as const;

/**
 * Reads `{input?, limits?, max_cost_usd?, timeout?, steps?: {STEP: {...}}}`; `model`, `prompt` and `max_turns` beside them are those of
 * the step that is forked from. Throws `CHANGE_INVALID` with the place and what was expected.
 */
export function readForkChanges(given: Json, target?: string): ForkChanges {
  if (!isJsonObject(given)) throw invalid("changes", "must be an object");
  refuseUnknown(given, "changes", RUN_FIELDS);
  const { input = {}, steps = {}, limits = {}, max_cost_usd: maxCost, timeout } = given;
  if (!isJsonObject(input)) throw invalid("changes.input", "must be an object");
  if (!isJsonObject(steps)) throw invalid("changes.steps", "must be an object: `{STEP: {...}}`");
  const read = new Map<string, StepChange>();
  for (const [step, change] of Object.entries(steps)) read.set(step, readStepChange(change, `changes.steps.${step}`));
  const own = Object.fromEntries(OF_TARGET.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
  if (Object.keys(own).length > 0) {
    if (target === undefined || target === "") {
      throw invalid(`changes.${Object.keys(own)[0]}`, "belongs to a step: name one with `from_step`, or use `steps`");
    }
    read.set(target, { ...read.get(target), ...readStepChange(own, "changes") });
  }
  return {
    input,
    steps: read,
    limits: readLimits(maxCost === undefined ? limits : withCost(limits, maxCost)),
    timeout: readTimeout(timeout, "changes.timeout"),
  };
}

/** `max_cost_usd` stands beside the other limits or with them. */
function withCost(limits: Json, maxCost: Json): Json {
  if (!isJsonObject(limits)) return limits;
  if (limits["max_cost_usd"] === undefined) return { ...limits, max_cost_usd: maxCost };
  throw invalid("changes.limits.max_cost_usd", "is another name of `changes.max_cost_usd`: give one");
}

function readLimits(given: Json): ChangedLimits {
  if (!isJsonObject(given)) throw invalid("changes.limits", "must be an object");
  refuseUnknown(given, "changes.limits", LIMIT_FIELDS);
  const { max_cost_usd: cost, max_tokens: tokens, max_steps: steps, max_seconds: seconds, on_exceeded: asks } = given;
  if (asks !== undefined && asks !== "stop" && asks !== "ask") {
    throw invalid("changes.limits.on_exceeded", "must be `stop` or `ask`");
  }
  return {
    ...present("max_cost_usd", readCost(cost, "changes.max_cost_usd")),
    ...present("max_tokens", readCount(tokens, "changes.limits.max_tokens")),
    ...present("max_steps", readCount(steps, "changes.limits.max_steps")),
    ...present("max_seconds", readTimeout(seconds, "changes.limits.max_seconds")),
    ...present("on_exceeded", asks),
  };
}

function readCount(value: Json | undefined, at: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw invalid(at, "must be a whole number above 0");
}

function readStepChange(given: Json, at: string): StepChange {
  if (!isJsonObject(given)) throw invalid(at, "must be an object");
  refuseUnknown(given, at, STEP_FIELDS);
  const { model, prompt, max_turns: turns, max_cost_usd: cost, timeout } = given;
  if (Object.keys(given).length === 0) throw invalid(at, `changes nothing: give some of ${STEP_FIELDS.join(", ")}`);
  return {
    ...present("model", readText(model, `${at}.model`)),
    ...present("prompt", readText(prompt, `${at}.prompt`)),
    ...present("max_turns", readTurns(turns, `${at}.max_turns`)),
    ...present("max_cost_usd", readCost(cost, `${at}.max_cost_usd`)),
    ...present("timeout", readTimeout(timeout, `${at}.timeout`)),
  };
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]: Value });
}

function refuseUnknown(given: JsonObject, at: string, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, known);
  throw invalid(`${at}.${unknown}`, "cannot be changed", meant === undefined ? undefined : `Did you mean "${meant}"?`);
}

function readText(value: Json | undefined, at: string): string | undefined {
  if (value === undefined || (typeof value === "string" && value.trim() !== "")) return value;
  throw invalid(at, "must be a text that is not empty");
}

function readTurns(value: Json | undefined, at: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 10_000) return value;
  throw invalid(at, "must be a whole number from 1 to 10,000");
}

function readCost(value: Json | undefined, at: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value <= 1_000_000) return value;
  throw invalid(at, "must be a number of US dollars above 0");
}

const MAX_SECONDS = 366 * 24 * 60 * 60;

function readTimeout(value: Json | undefined, at: string): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && value > 0 && value <= MAX_SECONDS) return value;
  throw invalid(at, "must be a number of seconds above 0");
}

export function invalid(at: string, what: string, remedy?: string): PawlError {
  return new PawlError("CHANGE_INVALID", { message: `\`${at}\` ${what}.`, details: { path: at }, remedy });
}
