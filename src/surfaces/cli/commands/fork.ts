import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readTextFile } from "../../../operations/definitions/read-text-file.ts";
import type { CliVerb } from "../../../operations/operation.ts";
import { parseJson, toValue } from "../../../operations/parse-json.ts";
import { forkRun } from "../../../operations/repeat/repetitions.ts";
import { tellRepetition } from "../../../operations/repeat/tell-repetition.ts";
import type { RunCaller } from "../caller.ts";
import type { CommonOptions } from "../cli-context.ts";
import { followAnswer } from "../follow/follow-verb.ts";
import { sanitize } from "../render/text/sanitize.ts";
import type { Voice } from "../voice.ts";

export interface ForkOptions extends CommonOptions {
  readonly from?: string;
  readonly current?: true;
  /** `STEP.FIELD=VALUE` each. */
  readonly set?: readonly string[];
  readonly changes?: string;
}

const FORK: CliVerb<Parameters<typeof tellRepetition>[0]> = {
  verb: "runs fork",
  follows: "always",
  show: tellRepetition,
};

/** `pawl runs fork`: starts a new run with something changed, and follows it. */
export async function fork(caller: RunCaller, id: string, options: ForkOptions, voice: Voice): Promise<number> {
  const { from, current } = options;
  const changes = await readChanges(options);
  const definition = current === true ? "current" : undefined;
  const answered = await caller.call(forkRun, { id, from_step: from, definition, changes });
  return followAnswer(caller, { verb: FORK, answered }, { options, voice });
}

export async function readChanges({
  set = [],
  changes: file,
}: Pick<ForkOptions, "set" | "changes">): Promise<JsonObject> {
  const given = file === undefined ? {} : parseJson(await readTextFile(file), file);
  if (!isJsonObject(given)) throw new PawlError("CHANGE_INVALID", { message: `${file} must hold a JSON object.` });
  return set.reduce<JsonObject>((changes, written) => withSetting(changes, written), given);
}

/** Where a step is called `input` or `limits`, its changes are given as a file. */
function withSetting(changes: JsonObject, written: string): JsonObject {
  const equals = written.indexOf("=");
  const name = written.slice(0, Math.max(0, equals));
  if (name === "")
    throw new PawlError("USAGE", {
      message: `\`--set ${sanitize(written)}\` has no name and value.`,
      remedy: "Write `--set score.model=haiku`, `--set input.limit=5` or `--set max_cost_usd=2`.",
    });
  const text = written.slice(equals + 1);
  const dot = name.lastIndexOf(".");
  if (dot === -1) return { ...changes, [name]: readChange(name, text) };
  const [owner, field] = name.startsWith("input.")
    ? ["input", name.slice(6)]
    : [name.slice(0, dot), name.slice(dot + 1)];
  const value = readChange(owner === "input" ? "input" : field, text);
  if (owner === "input" || owner === "limits")
    return { ...changes, [owner]: { ...objectIn(changes, owner), [field]: value } };
  const steps = objectIn(changes, "steps");
  return { ...changes, steps: { ...steps, [owner]: { ...objectIn(steps, owner), [field]: value } } };
}

/** Models and prompts are texts, whatever they look like. */
function readChange(field: string, text: string): Json {
  return field === "model" || field === "prompt" ? text : toValue(text, `\`${field}\``);
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : {};
}
