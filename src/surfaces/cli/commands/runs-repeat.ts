import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { AppHost } from "../../../operations/application/application.ts";
import { readTextFile } from "../../../operations/definitions/read-text-file.ts";
import { prepareFork } from "../../../operations/repeat/fork-run.ts";
import type { PreparedRepetition, RepetitionRequest } from "../../../operations/repeat/prepare-repetition.ts";
import { prepareRerun } from "../../../operations/repeat/rerun-run.ts";
import { parseJson } from "../../../operations/requests/parse-json.ts";
import { type CommandParts, type CommonOptions, formatOf } from "../cli-context.ts";
import { driveRun } from "../drive-run.ts";
import { tell } from "../print.ts";
import { sanitize } from "../render/sanitize.ts";
import { shortId } from "../short-id.ts";

export interface RerunOptions extends CommonOptions {
  readonly from?: string;
  readonly current?: true;
}

/** `pawl runs rerun`: starts the new run and follows it. */
export async function rerun(parts: CommandParts, id: string, options: RerunOptions): Promise<number> {
  return drive(parts, id, { prepared: await prepareRerun(parts.app, toRequest(id, options)), options });
}

export interface ForkOptions extends RerunOptions {
  /** `STEP.FIELD=VALUE` each. */
  readonly set?: readonly string[];
  readonly changes?: string;
}

/** `pawl runs fork`: the same with something changed. */
export async function fork(parts: CommandParts, id: string, options: ForkOptions): Promise<number> {
  const changes = await readChanges(options);
  return drive(parts, id, { prepared: await prepareFork(parts.app, { ...toRequest(id, options), changes }), options });
}

function toRequest(run: string, { from, current }: RerunOptions): RepetitionRequest {
  return { run, fromStep: from, ...(current === true ? { definition: "current" } : {}) };
}

interface Drive {
  readonly prepared: PreparedRepetition;
  readonly options: CommonOptions;
}

export async function drive(
  { app, voice }: CommandParts,
  id: string,
  { prepared: { start, fromPath, notices }, options }: Drive,
): Promise<number> {
  for (const notice of notices) tell(notice);
  const { runId, definition } = start;
  const from = fromPath === "" ? "all of" : `from ${sanitize(fromPath)} of`;
  tell(`The run ${shortId(runId)} does ${from} ${sanitize(id)} again.`);
  const begin = (host: AppHost) => host.startRun(start);
  const { exitCode } = await driveRun(app, { runId, graph: definition.graph, format: formatOf(options), begin }, voice);
  return exitCode;
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
  if (name === "") {
    throw new PawlError("USAGE", {
      message: `\`--set ${sanitize(written)}\` has no name and value.`,
      remedy: "Write `--set score.model=haiku`, `--set input.limit=5` or `--set max_cost_usd=2`.",
    });
  }
  const text = written.slice(equals + 1);
  const dot = name.lastIndexOf(".");
  if (dot === -1) return { ...changes, [name]: toValue(name, text) };
  const [owner, field] = name.startsWith("input.")
    ? ["input", name.slice(6)]
    : [name.slice(0, dot), name.slice(dot + 1)];
  const value = toValue(owner === "input" ? "input" : field, text);
  if (owner === "input" || owner === "limits")
    return { ...changes, [owner]: { ...objectIn(changes, owner), [field]: value } };
  const steps = objectIn(changes, "steps");
  return { ...changes, steps: { ...steps, [owner]: { ...objectIn(steps, owner), [field]: value } } };
}

/** Models and prompts are texts, whatever they look like. */
function toValue(field: string, text: string): Json {
  if (field === "model" || field === "prompt") return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isJsonObject(value) ? value : {};
}
