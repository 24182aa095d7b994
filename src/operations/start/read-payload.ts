import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS"]);

/**
 * What an `inputSchema` is about: the JSON body of a request or a callback, the payload of everything else. Undefined
 * where there can be none: a cron slot, a request whose method needs no body and that has none. Throws `INPUT_INVALID`.
 */
export function readPayload(requestData: JsonObject): Json | undefined {
  const { source } = requestData;
  switch (source) {
    case "http":
      return readBody(detailsOf(requestData, "httpDetails"));
    case "callback":
      return readBody(detailsOf(requestData, "callbackDetails"));
    case "queue":
      return detailsOf(requestData, "queueDetails")["payload"] ?? null;
    case "trigger":
      return detailsOf(requestData, "triggerDetails")["payload"] ?? null;
    case "cron":
      return undefined;
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
  if (typeof body !== "string" || isEmpty) {
    throw new PawlError("INPUT_INVALID", { message: "The request has no body.", remedy: "Send a JSON body." });
  }
  const text = bodyEncoding === "base64" ? Buffer.from(body, "base64").toString("utf8") : body;
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new PawlError("INPUT_INVALID", { message: "The body is not valid JSON.", remedy: "Send a JSON body." });
  }
}
