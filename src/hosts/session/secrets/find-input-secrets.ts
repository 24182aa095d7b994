import { readPath } from "../../../core/expressions/read-path.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import { findSecretLeaves, type SecretLeaf } from "./secret-leaves.ts";

/** The places in a request that the schema of a UHLP workflow describes. */
const PAYLOADS = [
  ["requestData", "payload"],
  ["requestData", "queueDetails", "payload"],
  ["requestData", "triggerDetails", "payload"],
  ["requestData", "httpDetails", "body"],
  ["requestData", "callbackDetails", "body"],
] as const;

/** Finds the secret values of a run's input, in the form that the dialect reads. */
export function findInputSecrets(graph: Pick<Graph, "dialect" | "input">, input: JsonObject): readonly SecretLeaf[] {
  const { schema } = graph.input;
  if (schema === undefined) return [];
  if (traitsOf(graph).input !== "request") return findSecretLeaves(schema, input);
  return PAYLOADS.flatMap((place) => findIn(schema, input, place));
}

/** A text with a secret is hidden as a whole. The secrets in it are returned as well, so that they are masked elsewhere. */
function findIn(schema: JsonObject, input: JsonObject, place: readonly string[]): readonly SecretLeaf[] {
  const value = readPath(input, place);
  if (value === undefined) return [];
  const parsed =
    typeof value === "string" ? parseBody(value, readPath(input, [...place.slice(0, -1), "bodyEncoding"])) : value;
  const inside = findSecretLeaves(schema, parsed).map((leaf) => ({ ...leaf, at: [...place, ...leaf.at] }));
  return typeof value === "string" && inside.length > 0 ? [{ at: place, value }, ...inside] : inside;
}

function parseBody(text: string, encoding: Json | undefined): Json {
  return parseJson(encoding === "base64" ? Buffer.from(text, "base64").toString("utf8") : text) ?? null;
}
