import type { ProblemList } from "./problem-list.ts";
import { expected, optional, withDefault } from "./shape/fields.ts";
import { integer, text } from "./shape/scalars.ts";
import type { Range } from "./source/source-text.ts";

export const PLACES = "How many runs with one key go on at once. A workflow that another one calls is not counted.";
export const KEY = "Runs with one value of it share the places: a text, number or boolean of the input, per tenant.";
export const WHEN_FULL =
  "Where no place is free: the run waits in line; the oldest runs are cancelled for it; or it is not started, and whoever starts it is told so.";

/** Fields of `concurrency` that have one spelling in all dialects. */
export const PLACE_FIELDS = {
  limit: withDefault(
    integer(1, 10_000),
    1,
    "How many of these runs go on at once. One that waits for a person or an event keeps its place.",
  ),
  scope: optional(text({ pattern: "^[\\w.-]{1,100}$" }), "Workflows with the same scope share the places."),
};

export const RATE = "How many runs with one key begin within a time. A workflow that another one calls is not counted.";
export const PER = "The time: of no key more runs begin within it, whenever it begins.";
export const WHEN_MANY =
  "Where so many have begun: the run waits for its turn; or it is not started, and whoever starts it is told so.";

/** Fields of `rate` that have one spelling in all dialects. Each start keeps so many times in mind. */
export const RATE_FIELDS = {
  limit: expected(integer(1, 1_000), "How many runs."),
  scope: optional(text({ pattern: "^[\\w.-]{1,100}$" }), "Workflows with the same scope are counted together."),
};

export const DEBOUNCE =
  "A run begins when no other one with its key has been started for a time; of those that were started meanwhile only the newest begins. Instead of `concurrency`.";
export const WAIT =
  "The time: so long after its start a run begins, unless another one with its key is started before.";

/** What `debounce` means to the engine: a run in wait has the one place of its key until a newer one takes it over. */
export const toDebounce = (waitMs = 1) => ({ limit: 1, whenFull: "cancelOlder", waitMs }) as const;

/** The two share the line of a run. */
export function reportBoth(at: Range, problems: ProblemList): void {
  const message = "A workflow has `concurrency` or `debounce`, not both.";
  problems.error({ code: "VALUE_INVALID", at, message, remedy: "Leave one of them out." });
}

/** What others call the choice. */
const FOREIGN = ["onConflict", "on_conflict", "overlap", "behavior", "mode", "strategy", "policy", "onFull"];
/** With what to write. */
export const foreignChoices = (remedy: string) => Object.fromEntries(FOREIGN.map((name) => [name, remedy]));
/** What others call the time. */
const FOREIGN_TIMES = ["period", "interval", "window", "every", "duration", "within", "delay", "delay_ms", "timeout"];
export const foreignTimes = (word: "per" | "wait") =>
  Object.fromEntries(FOREIGN_TIMES.map((name) => [name, `Write \`${word}\`, such as \`1m\`.`]));

/** The key is computed before anything of the run is there but its input. */
export function reportKey(of: "concurrency" | "rate" | "debounce", at: Range, problems: ProblemList): void {
  const message = `The \`key\` of \`${of}\` reads something other than what the run is started with.`;
  problems.error({ code: "EXPRESSION_INVALID", at, message, remedy: "Read a field of the input." });
}
