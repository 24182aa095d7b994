import { findRun } from "../../../operations/application/find-run.ts";
import type { Stores } from "../../../operations/application/ports.ts";
import { toJsonInTurns } from "../../../operations/json-in-turns.ts";
import { describeRun, shortenRun } from "../../../operations/runs/describe/describe-run.ts";

/** Clients over stdio take messages of 10 MB, and a result is in one twice, once as an escaped text. */
const MAX_CHARACTERS = 2_000_000;

/** The first of several forms of a result, the fullest first, that clients take; the last one whatever its length. */
export async function fitResult(forms: readonly (() => Promise<object>)[]): Promise<object> {
  const [form, ...rest] = forms;
  if (form === undefined) return {};
  const result = await form();
  return rest.length === 0 || (await toJsonInTurns(result)).length <= MAX_CHARACTERS ? result : fitResult(rest);
}

/** A run with its steps: without prompts, and without outputs where they would be too long for one answer. */
export async function describeForModel(app: Stores, id: string): Promise<object> {
  const run = await describeRun(await app.records(), await findRun(app, id), { withPrompts: false });
  return fitResult([run, ...shortenRun(run)].map((form) => async () => form));
}
