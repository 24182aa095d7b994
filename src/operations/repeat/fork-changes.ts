import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";

const TEXT = z.custom<string>(
  (value) => typeof value === "string" && value.trim() !== "",
  "must be a text that is not empty",
);
const COUNT = numberOf("a whole number above 0", (value) => Number.isSafeInteger(value) && value >= 1);
const TURNS = numberOf(
  "a whole number from 1 to 10,000",
  (value) => Number.isInteger(value) && value >= 1 && value <= 10_000,
);
const USD = numberOf("a number of US dollars above 0", (value) => value > 0 && value <= 1_000_000);
const SECONDS = numberOf("a number of seconds above 0", (value) => value > 0 && value <= 366 * 24 * 60 * 60);

function numberOf(what: string, fits: (value: number) => boolean) {
  return z.custom<number>((value) => typeof value === "number" && fits(value), `must be ${what}`);
}

const stepSchema = z
  .strictObject({ model: TEXT, prompt: TEXT, max_turns: TURNS, max_cost_usd: USD, timeout: SECONDS })
  .partial();

const limitsSchema = z
  .strictObject({
    max_cost_usd: USD,
    max_tokens: COUNT,
    max_steps: COUNT,
    max_seconds: SECONDS,
    on_exceeded: z.enum(["stop", "ask"], "must be `stop` or `ask`"),
  })
  .partial();

const OF_TARGET = ["model", "prompt", "max_turns"] as const;
const RUN_FIELDS = ["input", "limits", "max_cost_usd", "timeout", "steps", ...OF_TARGET] as const;

/** The changes of a fork in one step, with the names that definitions and clients use. */
export type StepChange = z.output<typeof stepSchema>;

/** The changes as a request writes them. Absent ones stay as they were. */
export type ChangedLimits = z.output<typeof limitsSchema>;

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
    if (target === undefined || target === "")
      throw invalid(`changes.${Object.keys(own)[0]}`, "belongs to a step: name one with `from_step`, or use `steps`");
    read.set(target, { ...read.get(target), ...readStepChange(own, "changes") });
  }
  return {
    input,
    steps: read,
    limits: {
      ...readFields(limits, "changes.limits", limitsSchema),
      ...readFields(maxCost === undefined ? {} : besideLimits(limits, maxCost), "changes", limitsSchema),
    },
    timeout: readFields(timeout === undefined ? {} : { timeout }, "changes", stepSchema).timeout,
  };
}

/** `max_cost_usd` stands beside the other limits or with them. */
function besideLimits(limits: Json, maxCost: Json): Json {
  if (!isJsonObject(limits) || limits["max_cost_usd"] === undefined) return { max_cost_usd: maxCost };
  throw invalid("changes.limits.max_cost_usd", "is another name of `changes.max_cost_usd`: give one");
}

function readStepChange(given: Json, at: string): StepChange {
  const change = readFields(given, at, stepSchema);
  if (Object.keys(change).length > 0) return change;
  throw invalid(at, `changes nothing: give some of ${Object.keys(stepSchema.shape).join(", ")}`);
}

function readFields<Schema extends z.ZodObject>(given: Json, at: string, schema: Schema): z.output<Schema> {
  if (!isJsonObject(given)) throw invalid(at, "must be an object");
  refuseUnknown(given, at, Object.keys(schema.shape));
  const { data, error } = schema.safeParse(given);
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw invalid([at, ...(issue?.path ?? [])].join("."), issue?.message ?? "does not fit");
}

function refuseUnknown(given: JsonObject, at: string, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = didYouMean(unknown, known);
  throw invalid(`${at}.${unknown}`, "cannot be changed", meant === undefined ? undefined : `Did you mean "${meant}"?`);
}

export function invalid(at: string, what: string, remedy?: string): PawlError {
  return new PawlError("CHANGE_INVALID", { message: `\`${at}\` ${what}.`, details: { path: at }, remedy });
}
