import { parseExact } from "../../../src/core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";

/** What a model was shown. */
export interface Shown {
  readonly system: string;
  readonly messages: readonly ShownMessage[];
  readonly tools: readonly ShownTool[];
}

export interface ShownMessage {
  readonly by: "user" | "model";
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: Json }[];
  readonly results: readonly ShownResult[];
}

interface ShownResult {
  readonly id: string;
  readonly text: string;
  /** Only where the API says so. */
  readonly isError: boolean;
}

export interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** Everything that is said in a conversation, tool results included. */
export function saidIn({ messages }: Shown): readonly string[] {
  return messages.flatMap(({ text, results }) => [text, ...results.map((result) => result.text)]);
}

/** A list of objects, or nothing: what a client sends is not ours. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((each): each is JsonObject => isJsonObject(each)) : [];
}

/** A content that may be a text or a list of parts with texts. */
export function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

/** JSON that may be broken. */
export function parsedOr(text: Json | undefined): Json {
  if (typeof text !== "string") return text ?? null;
  try {
    return parseExact(text) as Json;
  } catch {
    return text;
  }
}
