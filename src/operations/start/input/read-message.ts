import { toText } from "../../../core/expressions/to-text.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject, ownField } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";

/** The original's word for it, beside our own. */
const MESSAGE_NAMES = ["message", "initial_user_message", "user_message", "initial_input"];

/** The input of a sequence of agents, by whichever name the message goes; that of every other workflow as it is. */
export function readMessage(given: JsonObject, graph: Graph): JsonObject {
  if (traitsOf(graph).input !== "message") return given;
  const message = MESSAGE_NAMES.map((name) => ownField(given, name)).find(
    (value) => value !== undefined && value !== null,
  );
  const session = ownField(given, "session_id") ?? null;
  return {
    ...(message === undefined ? {} : { message: toText(message) }),
    ...(session === null ? {} : { session_id: toText(session) }),
  };
}

/** Whether the terms of a call say that its input is a message. */
export function isMessage(terms: Json): boolean {
  return isJsonObject(terms) && terms["asks"] === "message";
}

/**
 * A message as the input of a called workflow. Agents take it as it is. For any other: a message that is a JSON object is the
 * input; else it is the one input that the workflow declares, or its `message`.
 */
export function fromMessage(given: JsonObject, graph: Graph): JsonObject {
  const { message = "" } = given;
  if (traitsOf(graph).input === "message" || typeof message !== "string") return given;
  const parsed = message.trimStart().startsWith("{") ? parseJson(message) : undefined;
  if (isJsonObject(parsed)) return parsed;
  return Object.fromEntries([[onlyNameOf(graph) ?? "message", message]]);
}

function onlyNameOf({ input }: Graph): string | undefined {
  const { properties, required } = input.schema ?? {};
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  if (names.includes("message")) return "message";
  if (names.length === 1) return names[0];
  const needed = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return needed.length === 1 ? needed[0] : undefined;
}
