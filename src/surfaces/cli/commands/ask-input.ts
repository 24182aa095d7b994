import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { toValue } from "../../../operations/parse-json.ts";
import { checkPayload, type MissingInput } from "../../../operations/start/input/check-input.ts";
import { io } from "../process-io.ts";
import { sanitize } from "../render/text/sanitize.ts";

/** Asks the person at the terminal for each input that is missing. Ctrl-C aborts `left`, and the reason is thrown. */
export async function askInput(missing: readonly MissingInput[], left: AbortController): Promise<JsonObject> {
  const answers: [string, Json][] = [];
  for (const each of missing) {
    const answer = await askOne(each);
    if (answer === undefined) left.abort();
    left.signal.throwIfAborted();
    answers.push([each.name, answer ?? null]);
  }
  return Object.fromEntries(answers);
}

/** Undefined: the person leaves instead of answering. */
async function askOne({ name, schema }: MissingInput): Promise<Json | undefined> {
  const { confirm, isCancel, log, select, text } = await import("@clack/prompts");
  const { type, enum: choices, description, directory } = schema;
  const says = typeof description === "string" ? `: ${sanitize(description)}` : "";
  const streams = { input: io().stdin, output: io().stderr };
  const question = { ...streams, message: sanitize(name) + says };
  if (Array.isArray(choices)) {
    const options = choices.map((choice, at) => ({ value: at, label: sanitize(toText(choice)) }));
    const chosen = await select({ ...question, options });
    return isCancel(chosen) ? undefined : choices[chosen];
  }
  if (type === "boolean") {
    const answer = await confirm({ ...question, initialValue: false });
    return isCancel(answer) ? undefined : answer;
  }
  const isText = type === "string" || directory !== undefined;
  for (let before = ""; ; ) {
    const placeholder =
      directory !== undefined ? "a folder" : isText || typeof type !== "string" ? "" : `JSON: ${type}`;
    const written = await text({ ...question, placeholder, initialValue: before });
    if (isCancel(written)) return undefined;
    const value = isText ? written : toValue(written, "The value");
    const flaw = directory === undefined ? await flawOf(value, schema) : undefined;
    if (flaw === undefined) return value;
    log.error(sanitize(flaw), { output: streams.output });
    before = written;
  }
}

function toText(choice: Json): string {
  return typeof choice === "string" ? choice : writeExact(choice);
}

async function flawOf(value: Json, schema: JsonObject): Promise<string | undefined> {
  try {
    await checkPayload(value, schema);
    return undefined;
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return error.message;
  }
}
