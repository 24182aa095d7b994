import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type Speaker, sayForField, sayFormat, saySentence } from "./plausible-text.ts";

interface Site extends Speaker {
  readonly root: JsonObject;
  /** The name of the property that the value will stand in. */
  readonly field: string;
  /** The name of the property around that. */
  readonly parent: string;
  readonly depth: number;
  /** Shared by the whole value. */
  readonly budget: { left: number };
}

// Beyond it only what is required is written, so that a schema that refers to itself comes to an end.
const OPTIONAL_DEPTH = 6;
const MAX_DEPTH = 40;
// Schemas that refer to themselves twice would double at every level.
const MAX_VALUES = 20_000;
const MAX_MERGE_DEPTH = 8;
const DEFAULT_LIST_ITEMS = 3;

/**
 * A value in the shape of a JSON Schema. It knows the common keywords; the caller validates what comes out, since
 * `not`, `if` and arbitrary patterns are not solved here.
 */
export function generateValue(schema: JsonObject, speaker: Speaker): Json {
  return generate(schema, { ...speaker, root: schema, field: "", parent: "", depth: 0, budget: { left: MAX_VALUES } });
}

function generate(written: Json | undefined, site: Site): Json {
  site.budget.left -= 1;
  if (site.depth > MAX_DEPTH || site.budget.left < 0) return null;
  const schema = resolve(written, site.root);
  if (schema["const"] !== undefined) return schema["const"];
  const [first, ...others] = offered(schema);
  if (first !== undefined) return site.random.pick([first, ...others]);

  switch (chooseType(schema)) {
    case "object":
      return generateObject(schema, site);
    case "array":
      return generateList(schema, site);
    case "integer":
    case "number":
      return generateNumber(schema, site);
    case "boolean":
      return site.random.next() < 0.5;
    case "null":
      return null;
    default:
      return generateText(schema, site);
  }
}

/** Values that the schema itself names. */
function offered(schema: JsonObject): readonly Json[] {
  if (isList(schema["enum"])) return schema["enum"];
  if (isList(schema["examples"])) return schema["examples"];
  return schema["default"] === undefined ? [] : [schema["default"]];
}

/** Follows references and merges what `allOf`, `anyOf` and `oneOf` add, so that one plain schema is left. */
function resolve(written: Json | undefined, root: JsonObject, depth = 0): JsonObject {
  if (!isJsonObject(written) || depth > MAX_MERGE_DEPTH) return {};
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = written;
  const parts = [
    ...(typeof reference === "string" ? [lookUp(reference, root)] : []),
    ...(isList(allOf) ? allOf : []),
    ...firstBranch(anyOf),
    ...firstBranch(oneOf),
  ];
  return parts.reduce<JsonObject>((merged, part) => merge(merged, resolve(part, root, depth + 1)), own);
}

function firstBranch(branches: Json | undefined): readonly Json[] {
  if (!isList(branches)) return [];
  const telling = branches.find((branch) => isJsonObject(branch) && branch["type"] !== "null");
  return telling === undefined ? branches.slice(0, 1) : [telling];
}

function merge(a: JsonObject, b: JsonObject): JsonObject {
  return {
    ...a,
    ...b,
    ...(isJsonObject(a["properties"]) &&
      isJsonObject(b["properties"]) && { properties: { ...a["properties"], ...b["properties"] } }),
    ...(isList(a["required"]) && isList(b["required"]) && { required: [...a["required"], ...b["required"]] }),
  };
}

/** Only inside the same document: nothing is ever fetched. */
function lookUp(reference: string, root: JsonObject): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const names = reference
    .slice(2)
    .split("/")
    .map((name) => decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce<Json | undefined>((at, name) => {
    if (isList(at)) return at[Number(name)];
    return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}

function chooseType(schema: JsonObject): Json | undefined {
  const type = schema["type"];
  if (isList(type)) return type.find((one) => one !== "null") ?? "null";
  if (type !== undefined) return type;
  if (
    schema["properties"] !== undefined ||
    schema["additionalProperties"] !== undefined ||
    schema["required"] !== undefined
  )
    return "object";
  if (schema["items"] !== undefined || schema["prefixItems"] !== undefined) return "array";
  if (schema["minimum"] !== undefined || schema["maximum"] !== undefined) return "number";
  return "string";
}

function generateObject(schema: JsonObject, site: Site): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"].filter((name) => typeof name === "string") : [];
  const optional =
    site.depth < OPTIONAL_DEPTH ? Object.keys(properties).filter((name) => properties[name] !== false) : [];
  const names = new Set([...optional, ...required]);
  const extra = schema["additionalProperties"];
  const minProperties = readNumber(schema, "minProperties") ?? (isJsonObject(extra) && names.size === 0 ? 2 : 0);
  for (let n = 1; names.size < minProperties && n <= minProperties; n += 1)
    names.add(`${site.random.pick(site.topic.words)}_${n}`);
  return Object.fromEntries([...names].map((name) => [name, generate(properties[name] ?? extra, inside(site, name))]));
}

function generateList(schema: JsonObject, site: Site): readonly Json[] {
  const tuple = [schema["prefixItems"], schema["items"]].find(isList) ?? [];
  const rest = isList(schema["items"]) ? schema["additionalItems"] : schema["items"];
  const min = readNumber(schema, "minItems") ?? 0;
  const max = readNumber(schema, "maxItems") ?? Number.MAX_SAFE_INTEGER;
  const usual =
    rest === false || site.depth >= OPTIONAL_DEPTH
      ? tuple.length
      : Math.max(tuple.length, site.random.int(1, DEFAULT_LIST_ITEMS));
  const length = Math.min(max, Math.max(min, usual));
  const items = Array.from({ length }, (_, index) => generate(tuple[index] ?? rest, inside(site, site.field)));
  return schema["uniqueItems"] === true ? makeUnique(items) : items;
}

/** Equal neighbours are told apart where they are text; other kinds are left out. */
function makeUnique(items: readonly Json[]): readonly Json[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const known = seen.has(JSON.stringify(item));
    const unique = known && typeof item === "string" ? `${item} ${index + 1}` : item;
    const key = JSON.stringify(unique);
    if (seen.has(key)) return [];
    seen.add(key);
    return [unique];
  });
}

function generateNumber(schema: JsonObject, site: Site): number {
  const step = readNumber(schema, "multipleOf") ?? (chooseType(schema) === "integer" ? 1 : 0.01);
  const [usualMin, usualMax] = usualRange(site.field);
  const above = readNumber(schema, "exclusiveMinimum");
  const below = readNumber(schema, "exclusiveMaximum");
  const min = readNumber(schema, "minimum") ?? (above === undefined ? undefined : above + step);
  const max = readNumber(schema, "maximum") ?? (below === undefined ? undefined : below - step);
  const low = min ?? Math.min(usualMin, max ?? usualMin);
  const high = max ?? Math.max(usualMax, low);
  const steps = site.random.int(Math.ceil(low / step), Math.max(Math.ceil(low / step), Math.floor(high / step)));
  return Number((steps * step).toFixed(10));
}

function usualRange(field: string): readonly [number, number] {
  if (/confidence|probability|ratio|share|weight/i.test(field)) return [0, 1];
  if (/year/i.test(field)) return [1995, 2025];
  if (/usd|eur|amount|price|revenue|funding|cost|budget/i.test(field)) return [100_000, 25_000_000];
  return [1, 100];
}

function generateText(schema: JsonObject, site: Site): string {
  const format = typeof schema["format"] === "string" ? sayFormat(schema["format"], site) : undefined;
  if (format !== undefined) return format;
  const min = readNumber(schema, "minLength") ?? 0;
  const max = readNumber(schema, "maxLength") ?? Number.MAX_SAFE_INTEGER;
  const said = [sayForField(site, site)];
  for (let length = said[0]?.length ?? 0; length < min; length += (said.at(-1)?.length ?? 0) + 1)
    said.push(saySentence(site));
  return said.join(" ").slice(0, max);
}

function inside(site: Site, field: string): Site {
  return { ...site, field, parent: site.field, depth: site.depth + 1 };
}

function readNumber(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  return typeof value === "number" ? value : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
