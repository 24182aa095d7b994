import { toCanonicalNumber, writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "../../../core/json.ts";

/** The place of a value. */
interface Site {
  readonly root: JsonObject;
  /** The name of the nearest property around it. */
  readonly field: string;
  /** Its index in the nearest list, so that the items of a list differ. */
  readonly index: number;
  readonly depth: number;
  /** Shared by the whole value. */
  readonly budget: { left: number };
}

// Deeper than this only required parts are written, so that a schema that refers to itself comes to an end.
const OPTIONAL_DEPTH = 6;
const MAX_DEPTH = 40;
// A schema that refers to itself twice would double the value at every level, and one may ask for any number of items.
const MAX_VALUES = 20_000;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_MERGE_DEPTH = 8;
const USUAL_ITEMS = 2;

/** A plain value in the shape of a JSON Schema; equal schemas give equal values. The caller validates it: `not`, `if` and patterns are not solved. */
export function toSchemaValue(schema: JsonObject): Json {
  return toValue(schema, { root: schema, field: "answer", index: 0, depth: 0, budget: { left: MAX_VALUES } });
}

function toValue(written: Json | undefined, site: Site): Json {
  site.budget.left -= 1;
  if (site.depth > MAX_DEPTH || site.budget.left < 0) return null;
  const schema = resolve(written, site.root);
  if (schema["const"] !== undefined) return schema["const"];
  const offered = [schema["enum"], schema["examples"]].find(isList) ?? [];
  if (offered.length > 0) return offered[site.index % offered.length] ?? null;
  if (schema["default"] !== undefined) return schema["default"];

  switch (typeOf(schema)) {
    case "object":
      return toObject(schema, site);
    case "array":
      return toList(schema, site);
    case "integer":
    case "number":
      return toNumber(schema, site);
    case "boolean":
      return site.index % 2 === 0;
    case "null":
      return null;
    default:
      return toText(schema, site);
  }
}

/** Follows references and merges `allOf` and the first branch of `anyOf` and `oneOf`, so that one plain schema is left. */
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

/** Looks only inside the same document: nothing is ever fetched. */
function lookUp(reference: string, root: JsonObject): Json | undefined {
  const names = reference
    .split("/")
    .map((name) => decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~"));
  if (names.shift() !== "#") return undefined;
  return names.reduce<Json | undefined>((at, name) => {
    if (isList(at)) return at[Number(name)];
    return isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
}

const TYPES_BY_KEYWORD = {
  object: ["properties", "additionalProperties", "required"],
  array: ["items", "prefixItems"],
  number: ["minimum", "maximum"],
} as const;

function typeOf(schema: JsonObject): Json {
  const { type } = schema;
  if (isList(type)) return type.find((one) => one !== "null") ?? "null";
  if (type !== undefined) return type;
  const implied = Object.entries(TYPES_BY_KEYWORD).find(([, keywords]) => keywords.some((name) => name in schema));
  return implied?.[0] ?? "string";
}

function toObject(schema: JsonObject, site: Site): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"].filter((name) => typeof name === "string") : [];
  const known = Object.keys(properties).filter((name) => properties[name] !== false);
  const names = new Set([...(site.depth < OPTIONAL_DEPTH ? known : []), ...required]);
  const extra = schema["additionalProperties"];
  const isMap = isJsonObject(extra) && names.size === 0;
  const minProperties = numberIn(schema, "minProperties") ?? (isMap ? USUAL_ITEMS : 0);
  for (let n = 1; names.size < Math.min(minProperties, site.budget.left); n += 1) names.add(`key_${n}`);
  return Object.fromEntries(
    [...names].map((field) => [field, toValue(properties[field] ?? extra, { ...site, field, depth: site.depth + 1 })]),
  );
}

function toList(schema: JsonObject, site: Site): readonly Json[] {
  const tuple = [schema["prefixItems"], schema["items"]].find(isList) ?? [];
  const rest = isList(schema["items"]) ? schema["additionalItems"] : schema["items"];
  const usual = rest === false || site.depth >= OPTIONAL_DEPTH ? 0 : USUAL_ITEMS;
  const wanted = Math.max(tuple.length, usual, numberIn(schema, "minItems") ?? 0);
  const length = Math.max(0, Math.min(wanted, numberIn(schema, "maxItems") ?? wanted, site.budget.left));
  const items = Array.from({ length }, (_, index) => {
    return toValue(tuple[index] ?? rest, { ...site, index, depth: site.depth + 1 });
  });
  if (schema["uniqueItems"] !== true) return items;
  return [...new Map(items.map((item) => [writeExact(item), item])).values()];
}

/** The middle of its range, or the end that is given, or 1; the items of a list count on from there. */
function toNumber(schema: JsonObject, site: Site): number | bigint {
  const far = toFarInteger(schema);
  if (far !== undefined) return toCanonicalNumber(far + BigInt(site.index));
  const step = numberIn(schema, "multipleOf") ?? (typeOf(schema) === "integer" ? 1 : 0.01);
  const above = numberIn(schema, "exclusiveMinimum");
  const below = numberIn(schema, "exclusiveMaximum");
  const min = numberIn(schema, "minimum") ?? (above === undefined ? undefined : above + step);
  const max = numberIn(schema, "maximum") ?? (below === undefined ? undefined : below - step);
  const first = Math.ceil((min ?? Math.min(1, max ?? 1)) / step);
  if (max === undefined) return round((first + site.index) * step);
  const count = Math.max(1, Math.floor(max / step) - first + 1);
  const start = min === undefined ? count - 1 : Math.floor((count - 1) / 2);
  return round((first + ((start + site.index) % count)) * step);
}

/** At a bound that no double can hold; others are no help in choosing a plain value. */
function toFarInteger({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: JsonObject): bigint | undefined {
  if (typeof minimum === "bigint" && minimum > 0n) return minimum;
  if (typeof exclusiveMinimum === "bigint" && exclusiveMinimum > 0n) return exclusiveMinimum + 1n;
  if (typeof maximum === "bigint" && maximum < 0n) return maximum - 1_000n;
  if (typeof exclusiveMaximum === "bigint" && exclusiveMaximum < 0n) return exclusiveMaximum - 1_000n;
  return undefined;
}

function round(value: number): number {
  return Number(value.toFixed(10));
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: "2025-01-15",
  "date-time": "2025-01-15T09:00:00Z",
  time: "09:00:00Z",
  duration: "P1D",
  email: "someone@example.com",
  "idn-email": "someone@example.com",
  uri: "https://example.com/",
  "uri-reference": "https://example.com/",
  iri: "https://example.com/",
  url: "https://example.com/",
  hostname: "www.example.com",
  "idn-hostname": "www.example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uuid: "00000000-0000-4000-8000-000000000000",
  "json-pointer": "/answer",
  regex: "^answer$",
};

function toText(schema: JsonObject, { field, index }: Site): string {
  const format = BY_FORMAT[String(schema["format"])];
  if (format !== undefined) return format;
  const text = `simulated ${field}${index === 0 ? "" : ` ${index + 1}`}`;
  const min = Math.min(numberIn(schema, "minLength") ?? 0, MAX_TEXT_CHARS);
  return text.padEnd(min, ` ${text}`).slice(0, numberIn(schema, "maxLength") ?? Number.MAX_SAFE_INTEGER);
}

function numberIn(schema: JsonObject, name: string): number | undefined {
  const value = schema[name];
  // Made-up values are small, and a simulated answer is checked like any other.
  return isNumber(value) ? Number(value) : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
