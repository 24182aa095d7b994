import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { StartPorts } from "../application/ports.ts";
import { findDefinition } from "../definitions/find-definition.ts";
import { registryOf } from "../definitions/load-options.ts";
import { readRunResult } from "../runs/read-run-result.ts";
import { toRunInput } from "../start/input/to-run-input.ts";
import { prepareStart } from "../start/prepare-run.ts";
import type { RequestRunner } from "../start/request-runner.ts";

/** The data by which a caller of the server is known. */
export interface Caller {
  readonly method: string;
  readonly path: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts of a context that say who somebody is and what holds for them. Only a trusted request fills them. */
const TRUSTED: readonly unknown[] = ["userInfo", "sessionId", "configuration"];

function isTrusted(name: string | undefined): boolean {
  return TRUSTED.includes(name);
}

/** A context as it was sent, without what only the server may say. */
export function withoutTrusted(context: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(context).filter(([name]) => !isTrusted(name)));
}

/** What a caller says in a request whose word is believed. Throws `REQUEST_INVALID`. */
export function readTold(context: JsonObject): JsonObject {
  const told = Object.entries(context).filter(([name, value]) => isTrusted(name) && value !== null);
  for (const [name, value] of told) {
    const isRight = name === "sessionId" ? typeof value === "string" : isJsonObject(value);
    const kind = name === "sessionId" ? "a string" : "an object";
    if (!isRight) throw new PawlError("REQUEST_INVALID", { message: `/context/${name} must be ${kind}.` });
  }
  return Object.fromEntries(told);
}

/**
 * Fills `userInfo`, `sessionId` and `configuration` as `server.context` says: with what a trusted caller has told, then fixed values,
 * then headers, then what a workflow returns. Throws `CONTEXT_UNAVAILABLE` where that workflow fails.
 */
export async function resolveTrustedContext(
  app: StartPorts,
  runner: RequestRunner,
  caller: Caller,
  told: JsonObject = {},
): Promise<JsonObject> {
  const { configuration, headers, workflow } = app.config.settings.server.context;
  const said = isJsonObject(told["configuration"]) ? told["configuration"] : {};
  const fixed: JsonObject =
    configuration === undefined ? {} : { configuration: { ...said, ...(configuration as JsonObject) } };
  const known = readHeaders({ ...told, ...fixed }, headers ?? {}, caller);
  return workflow === undefined ? known : { ...known, ...(await askWorkflow(app, runner, { workflow, caller })) };
}

function readHeaders(context: JsonObject, headers: Readonly<Record<string, string>>, caller: Caller): JsonObject {
  let filled = context;
  for (const [place, header] of Object.entries(headers)) {
    const name = header.toLowerCase();
    const value = Object.hasOwn(caller.headers, name) ? caller.headers[name] : undefined;
    const path = place.split(".");
    if (value !== undefined && isTrusted(path[0])) filled = put(filled, path, toValue(path.at(-1), value));
  }
  return filled;
}

/** `roles` is a list in the protocol, and one text in a header. */
function toValue(name: string | undefined, text: string): Json {
  if (name === "roles")
    return text
      .split(",")
      .map((role) => role.trim())
      .filter((role) => role !== "");
  return name === "isAuthenticated" ? text === "true" || text === "1" : text;
}

function put(into: JsonObject, [name = "", ...rest]: readonly string[], value: Json): JsonObject {
  if (rest.length === 0) return { ...into, [name]: value };
  const inner = Object.hasOwn(into, name) ? into[name] : undefined;
  return { ...into, [name]: put(isJsonObject(inner) ? inner : {}, rest, value) };
}

async function askWorkflow(
  app: StartPorts,
  runner: RequestRunner,
  { workflow, caller }: { readonly workflow: string; readonly caller: Caller },
): Promise<JsonObject> {
  const { appDir } = app;
  const found = await findDefinition(workflow, { folders: [appDir], ...registryOf(app) });
  const { method, path, headers } = caller;
  const input = await toRunInput({ method, path, headers }, found.definition.graph);
  const ran = await runner.run(await prepareStart(app, { ...found, input }, { folder: appDir }));
  if (ran.is === "unanswered") throw ran.error;
  const result = ran.is === "ended" ? await readRunResult(await app.records(), ran.record) : undefined;
  const output = result?.outcome.is === "completed" ? result.outcome.output : undefined;
  if (output === undefined || !isJsonObject(output))
    throw new PawlError("CONTEXT_UNAVAILABLE", {
      message: `"${workflow}" did not say who asks: its run ${ran.record.id} ${result === undefined ? "waits" : "has no such output"}.`,
    });
  const said = output["resultType"] === "generic" && isJsonObject(output["data"]) ? output["data"] : output;
  return Object.fromEntries(Object.entries(said).filter(([name]) => isTrusted(name)));
}
