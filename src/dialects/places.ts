import type { ProblemList } from "./problem-list.ts";
import { optional, withDefault } from "./shape/fields.ts";
import { integer, text } from "./shape/scalars.ts";
import type { Range } from "./source/source-text.ts";

export const PLACES =
  "How many of its runs go on at once: of those with one key `limit`. A workflow that another one calls is part of that one's run and is not counted.";
export const KEY =
  "Runs with one value of it share the places: a text, number or boolean of what the run is started with. Each tenant has its own.";
export const WHEN_FULL =
  "Where no place is free: the run waits in line; the oldest runs are cancelled for it; or it is not started, and whoever starts it is told so.";

/** Fields of `concurrency` that have one spelling in all dialects. */
export const PLACE_FIELDS = {
  limit: withDefault(
    integer(1, 10_000),
    1,
    "How many of these runs go on at once. One that waits for a person or an event keeps its place.",
  ),
  scope: optional(
    text({ pattern: "^[\\w.-]{1,100}$", examples: ["crm"] }),
    "Workflows with the same scope share the places.",
    { otherwise: "the workflow's own" },
  ),
};

/** What others call the choice, with what to write. */
export const foreignChoices = (remedy: string): { readonly [key: string]: string } =>
  Object.fromEntries(
    ["onConflict", "on_conflict", "overlap", "behavior", "mode", "strategy", "policy", "onFull"].map((name) => [
      name,
      remedy,
    ]),
  );

/** The key is computed before anything of the run is there but its input. */
export function reportKey(at: Range, problems: ProblemList): void {
  const message = "The `key` of `concurrency` reads something other than what the run is started with.";
  problems.error({ code: "EXPRESSION_INVALID", at, message, remedy: "Read a field of the input." });
}
