import { readKey, readPath } from "../../../core/expressions/read-path.ts";
import { namesInEnv, resolveEnv } from "../../../core/expressions/resolve-env.ts";
import { traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import { allows, grantOf } from "../../../core/trust/grant.ts";
import { isTypedSecretName, REDACTED } from "../../../core/trust/secret-names.ts";

/** A value that is hidden in what is stored, with the keys and indices that lead to it. */
export interface SecretLeaf {
  readonly at: readonly (string | number)[];
  readonly value: Json;
}

const MAX_DEPTH = 100;

/** Finds the values of an input whose schema says `secret: true`, `writeOnly: true` or `format: password`. */
function findSecretLeaves(schema: JsonObject | undefined, input: Json): SecretLeaf[] {
  const found: SecretLeaf[] = [];
  if (schema !== undefined) collect(schema, input, [], found);
  return found;
}

function collect(schema: Json | undefined, value: Json | undefined, at: SecretLeaf["at"], found: SecretLeaf[]): void {
  if (!isJsonObject(schema) || value === undefined || value === null || at.length > MAX_DEPTH) return;
  if (schema["secret"] === true || schema["writeOnly"] === true || schema["format"] === "password") {
    found.push({ at, value });
    return;
  }
  for (const key of ["allOf", "anyOf", "oneOf"] as const) {
    const parts = schema[key];
    if (Array.isArray(parts)) for (const part of parts) collect(part, value, at, found);
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(schema["items"], item, [...at, index], found);
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties } = schema;
    for (const [key, item] of Object.entries(value)) {
      const named = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      collect(named, item, [...at, key], found);
    }
  }
}

/** Finds the places where a masked value differs from the plain one. */
export function findMaskedLeaves(plain: Json, masked: Json, at: SecretLeaf["at"] = []): SecretLeaf[] {
  if (plain === masked) return [];
  if (Array.isArray(plain) && Array.isArray(masked) && plain.length === masked.length)
    return plain.flatMap((item, index) => findMaskedLeaves(item, masked[index] ?? null, [...at, index]));
  if (isJsonObject(plain) && isJsonObject(masked) && haveSameKeys(plain, masked))
    return Object.entries(plain).flatMap(([key, item]) => findMaskedLeaves(item, masked[key] ?? null, [...at, key]));
  return [{ at, value: plain }];
}

function haveSameKeys(one: JsonObject, other: JsonObject): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key));
}

/** The texts that must not be seen anywhere else. */
export function textsOf(leaves: readonly SecretLeaf[]): string[] {
  return leaves.flatMap(({ value }) => textsIn(value));
}

function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (isNumber(value)) return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

export function hideLeaves<Value extends Json>(value: Value, leaves: readonly SecretLeaf[]): Value {
  return leaves.reduce<Json>((hidden, { at }) => replace(hidden, at, () => REDACTED), value) as Value;
}

/** Puts the hidden values back. */
export function showLeaves(value: Json, leaves: readonly SecretLeaf[]): Json {
  return leaves.reduce<Json>((shown, leaf) => replace(shown, leaf.at, () => leaf.value), value);
}

/** The secrets of another run's input that are still hidden in this one. */
export function findReusedSecrets(value: Json, leaves: readonly SecretLeaf[]): SecretLeaf[] {
  return leaves.filter(({ at }) => readPath(value, at) === REDACTED);
}

/** A copy in which one place is replaced. All other parts are shared. */
function replace(value: Json, at: SecretLeaf["at"], by: () => Json): Json {
  const [key, ...rest] = at;
  if (key === undefined) return by();
  const child = readKey(value, key);
  if (child === undefined) return value;
  if (Array.isArray(value)) return value.with(Number(key), replace(child, rest, by));
  return isJsonObject(value) ? { ...value, [key]: replace(child, rest, by) } : value;
}

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
  // Workflows in terminals declare nothing about their variables: the name tells which are typed at hidden prompts.
  if (traitsOf(graph).isTerminal)
    return Object.entries(input).flatMap(([name, value]) =>
      isTypedSecretName(name) && typeof value === "string" && value !== "" ? [{ at: [name], value }] : [],
    );
  if (schema === undefined) return [];
  if (traitsOf(graph).input !== "request") return findSecretLeaves(schema, input);
  const found = PAYLOADS.flatMap((place) => findIn(schema, input, place));
  // The body of a form has them too, encoded.
  const at = ["requestData", "httpDetails", "body"];
  const body = readPath(input, at);
  const isForm = found.some((leaf) => leaf.at[1] === "payload") && typeof body === "string";
  return isForm ? [...found, { at, value: body }] : found;
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

/** What the application's configuration gives to workflows, and the variables that `${NAME}` in it stands for. */
export interface Configured {
  readonly configuration?: JsonObject | undefined;
  env(name: string): string | undefined;
}

/**
 * Finds the texts of the configuration in which `${NAME}` stands, where a request has them as they are written there. Steps read them
 * with the values of the variables that were granted; what else a request says is never expanded.
 */
export function findConfiguredSecrets(
  graph: Pick<Graph, "dialect" | "settings">,
  input: JsonObject,
  { configuration, env }: Configured,
): readonly SecretLeaf[] {
  if (configuration === undefined || traitsOf(graph).input !== "request") return [];
  const grant = grantOf(graph.settings);
  return textLeaves(configuration, ["context", "configuration"]).flatMap(({ at, text }) => {
    const names = namesInEnv(text);
    const isKnown = (name: string) => allows(grant, "variables", name) && env(name) !== undefined;
    if (names.length === 0 || !names.every(isKnown) || readPath(input, at) !== text) return [];
    return [{ at, value: resolveEnv(text, env) }];
  });
}

function textLeaves(value: Json, at: SecretLeaf["at"]): readonly { at: SecretLeaf["at"]; text: string }[] {
  if (typeof value === "string") return [{ at, text: value }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textLeaves(item, [...at, index]));
  return isJsonObject(value) ? Object.entries(value).flatMap(([key, item]) => textLeaves(item, [...at, key])) : [];
}
