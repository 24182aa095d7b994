import { PawlError } from "../../../core/errors/pawl-error.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject, ownField } from "../../../core/json.ts";
import { parseJson, readJson } from "../../../core/parse-json.ts";
import type { JsonSchemas } from "../../../schemas/json-schemas.ts";
import { checkInput, checkPayload } from "./check-input.ts";
import { readMessage } from "./read-message.ts";
import { refuseMisspelt } from "./refuse-misspelt.ts";

/** The input of a UHLP workflow. */
export interface RequestInput {
  readonly requestId?: string;
  /** `source`, and the details that belong to it. */
  readonly requestData: JsonObject;
  readonly context: JsonObject;
}

/**
 * A run's input from what was given to it, by the command line or by a step that calls it: checked, with defaults, and in
 * the form that the dialect reads. Throws `INPUT_INVALID`.
 */
export async function toRunInput(given: JsonObject, graph: Graph, checker?: JsonSchemas): Promise<JsonObject> {
  refuseMisspelt(given, graph.input);
  return toOwnForm(await checkInput(readMessage(given, graph), graph.input, checker), graph);
}

/** Checked values in the form that the dialect reads. */
export function toOwnForm(input: JsonObject, graph: Graph): JsonObject {
  if (traitsOf(graph).input !== "request") return input;
  return { requestData: { source: "internal", payload: input }, context: {} };
}

/**
 * A run's input from a whole request, whose payload must fit the workflow. Only UHLP workflows read the request itself; for
 * any other the payload is the input. Throws `INPUT_INVALID`.
 */
export async function toRequestInput(request: RequestInput, graph: Graph, checker?: JsonSchemas): Promise<JsonObject> {
  const { requestId, requestData, context } = request;
  if (traitsOf(graph).input !== "request") return toPlainInput(readPayload(requestData) ?? {}, graph, checker);
  if (graph.input.schema !== undefined) {
    const payload = readPayload(requestData);
    if (payload !== undefined) await checkPayload(payload, graph.input.schema, checker);
  }
  const read = { ...requestData, ...readEncoded(requestData) };
  return { ...(requestId === undefined ? {} : { requestId }), requestData: read, context };
}

/** Expressions find the JSON in a plain body, not in one that is encoded. */
function readEncoded(requestData: JsonObject): JsonObject {
  const details = { http: "httpDetails", callback: "callbackDetails" }[String(requestData["source"])];
  const { body, bodyEncoding } = details === undefined ? {} : detailsOf(requestData, details);
  const payload = bodyEncoding === "base64" && typeof body === "string" ? parseJson(decode(body)) : undefined;
  return payload === undefined ? {} : { payload };
}

function decode(body: string): string {
  return Buffer.from(body, "base64").toString("utf8");
}

async function toPlainInput(payload: Json, graph: Graph, checker?: JsonSchemas): Promise<JsonObject> {
  if (!isJsonObject(payload))
    throw new PawlError("INPUT_INVALID", { message: "The input of a workflow is an object." });
  refuseMisspelt(payload, graph.input);
  return checkInput(readMessage(payload, graph), graph.input, checker);
}

const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/**
 * Reads the value that an `inputSchema` describes: the JSON body of a request or a callback, the payload of everything else. Undefined
 * where there can be none: a cron slot without an input, a request whose method needs no body and that has none. Throws `INPUT_INVALID`.
 */
function readPayload(requestData: JsonObject): Json | undefined {
  const { source } = requestData;
  switch (source) {
    case "http":
      return ownField(requestData, "payload") ?? readBody(detailsOf(requestData, "httpDetails"));
    case "callback":
      return readBody(detailsOf(requestData, "callbackDetails"));
    case "queue":
      return detailsOf(requestData, "queueDetails")["payload"] ?? null;
    case "trigger":
      return detailsOf(requestData, "triggerDetails")["payload"] ?? null;
    case "cron":
      return ownField(requestData, "payload");
    default:
      return requestData["payload"] ?? {};
  }
}

function detailsOf(requestData: JsonObject, name: string): JsonObject {
  const details = requestData[name];
  return isJsonObject(details) ? details : {};
}

function readBody({ method, body, bodyEncoding }: JsonObject): Json | undefined {
  const isEmpty = body === undefined || body === null || body === "";
  if (isEmpty && typeof method === "string" && BODILESS.has(method.toUpperCase())) return undefined;
  if (typeof body !== "string" || isEmpty)
    throw new PawlError("INPUT_INVALID", { message: "The request has no body.", remedy: "Send a JSON body." });
  const text = bodyEncoding === "base64" ? decode(body) : body;
  const read = readJson(text);
  if (read.ok) return read.value;
  throw new PawlError("INPUT_INVALID", { message: `The body ${read.flaw}.`, remedy: "Send a JSON body." });
}
