import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { compilePattern, PatternFault } from "./linear-pattern.ts";
import { findReferred, partsOf } from "./schema-parts.ts";

/** What a check may cost at most, where references lead back to nothing. */
export interface SchemaCost {
  /** Keywords and listed values, each as often as references lead to it: for each part of a value. */
  readonly keywords: number;
  /** Instructions of patterns: for each character of a value. */
  readonly patterns: number;
  /** Formats, whose time may grow with the square of a text. */
  readonly formats: number;
}

/** References that lead to each other further than this are not followed here. */
const MAX_DEPTH = 200;

/** Undefined: it refers to itself, or in a way whose cost cannot be told. */
export function estimateCost(root: JsonObject): SchemaCost | undefined {
  const known = new Map<JsonObject, SchemaCost | undefined>();
  const costOf = (schema: JsonObject, depth: number): SchemaCost | undefined => {
    if (known.has(schema)) return known.get(schema);
    // While it is being summed up, it is unknown to itself.
    known.set(schema, undefined);
    const cost = depth > MAX_DEPTH || isUnclear(schema, root) ? undefined : sumUp(schema, depth);
    known.set(schema, cost);
    return cost;
  };
  const sumUp = (schema: JsonObject, depth: number): SchemaCost | undefined => {
    const { $ref: reference } = schema;
    const referred = reference === undefined ? [] : [findReferred(root, reference)];
    const parts = partsOf(schema).filter(({ applies }) => applies !== "kept");
    let { keywords, patterns, formats } = ownCost(schema);
    for (const part of [...referred, ...parts.map((part) => part.schema)]) {
      const cost = part === undefined ? undefined : costOf(part, depth + 1);
      if (cost === undefined) return undefined;
      keywords += cost.keywords;
      patterns += cost.patterns;
      formats += cost.formats;
    }
    return { keywords, patterns, formats };
  };
  return costOf(root, 0);
}

function isUnclear(schema: JsonObject, root: JsonObject): boolean {
  return "$dynamicRef" in schema || "$recursiveRef" in schema || ("$id" in schema && schema !== root);
}

function ownCost(schema: JsonObject): SchemaCost {
  const listed = LISTS.reduce((sum, name) => sum + countNodes(schema[name] ?? null), 0);
  return {
    keywords: 1 + Object.keys(schema).length + listed,
    patterns: patternsOf(schema).reduce((sum, each) => sum + sizeOf(each), 0),
    formats: typeof schema["format"] === "string" ? 1 : 0,
  };
}

/** A pattern that cannot be used is reported where the schema is compiled. */
function sizeOf(pattern: string): number {
  try {
    return compilePattern(pattern).size;
  } catch (error) {
    if (error instanceof PatternFault) return 0;
    throw error;
  }
}

const LISTS = ["enum", "const", "required", "dependencies", "dependentRequired"];

function countNodes(value: Json): number {
  if (value === null || typeof value !== "object") return 1;
  return Object.values<Json>(value).reduce<number>((sum, each) => sum + countNodes(each), 1);
}

const MAX_SMALL_CHARS = 6_000;
const MAX_SMALL_PATTERNS = 20_000;

/** Whether it is compiled in some milliseconds. `text` is its JSON. */
export function isSmall(schema: JsonObject, text: string): boolean {
  if (text.length > MAX_SMALL_CHARS) return false;
  if (!text.includes('"pattern')) return true;
  const pending = [schema];
  let weight = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    for (const pattern of patternsOf(part)) weight += weigh(pattern);
    if (weight > MAX_SMALL_PATTERNS) return false;
    for (const inner of partsOf(part)) pending.push(inner.schema);
  }
  return true;
}

function patternsOf({ pattern, patternProperties }: JsonObject): readonly string[] {
  const written = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
  return typeof pattern === "string" ? [pattern, ...written] : written;
}

/** Its characters, as often as it repeats them at most. */
function weigh(pattern: string): number {
  const repeated = pattern.match(/\{\d{0,9}(?:,\d{0,9})?\}/g) ?? [];
  const times = repeated.map((each) => Math.max(1, ...each.slice(1, -1).split(",").map(Number)));
  return times.reduce((product, each) => product * each, pattern.length);
}

/** Steps of some ten nanoseconds. */
const MAX_STEPS = 500_000;

/** Whether a value can be checked at once, while all other work waits. */
export function isCheap({ keywords, patterns, formats }: SchemaCost, value: Json): boolean {
  let nodes = 0;
  let chars = 0;
  let longest = 0;
  const pending: Json[] = [value];
  while (pending.length > 0) {
    const each = pending.pop();
    nodes += 1;
    if (typeof each === "string") {
      chars += each.length;
      longest = Math.max(longest, each.length);
    } else if (Array.isArray(each)) for (const item of each) pending.push(item);
    else if (isJsonObject(each))
      for (const [key, item] of Object.entries(each)) {
        chars += key.length;
        longest = Math.max(longest, key.length);
        pending.push(item);
      }
    if (nodes * keywords + chars * (1 + patterns + formats * longest) > MAX_STEPS) return false;
  }
  return true;
}
