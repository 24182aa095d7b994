import { toCanonicalNumber } from "../exact-json.ts";
import { isJsonObject, isNumber, type Json, type JsonObject } from "../json.ts";
import { MAX_LIST_ITEMS } from "./expr.ts";
import { tooLarge, type Work } from "./work.ts";

type Values = readonly (Json | undefined)[];

/** Lists one after the other; what is no list counts as one element, null and undefined as none. */
export function concat(values: Values): readonly Json[] {
  const result: Json[] = [];
  for (const value of values) {
    if (value === undefined || value === null) continue;
    // Not `push(...list)`: a long list does not fit on the stack.
    for (const item of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
      if (result.length === MAX_LIST_ITEMS) throw tooLarge();
      result.push(item);
    }
  }
  return result;
}

/** The entries of all objects, shallow; the later one wins. A list stands for its elements, null and undefined for nothing. */
export function merge(values: Values, work: Work): Json | undefined {
  const entries = new Map<string, Json>();
  for (const value of values) {
    for (const part of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
      if (part === undefined || part === null) continue;
      if (!isJsonObject(part)) return undefined;
      addEntries(entries, part, work);
    }
  }
  return Object.fromEntries(entries);
}

/**
 * The objects of all lists, those with the same value of the field `key` as one, where the first of them stood; later
 * fields win. What has no such field, or a list or an object in it, stays as it is.
 */
export function mergeBy(lists: Json | undefined, key: Json | undefined, work: Work): Json | undefined {
  if (!Array.isArray(lists) || typeof key !== "string") return undefined;
  const groups = new Map<Scalar, Map<string, Json>>();
  const result: (Json | Map<string, Json>)[] = [];
  for (const item of concat(lists as readonly Json[])) {
    const mark = readMark(item, key);
    if (mark === undefined || !isJsonObject(item)) result.push(item);
    else addEntries(groupOf(mark, groups, result), item, work);
  }
  return result.map((item) => (item instanceof Map ? Object.fromEntries(item) : item));
}

type Scalar = string | number | bigint | boolean | null;

function readMark(item: Json, key: string): Scalar | undefined {
  const mark = isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : undefined;
  if (isNumber(mark)) return toCanonicalNumber(mark);
  return mark !== null && typeof mark === "object" ? undefined : mark;
}

function groupOf(
  mark: Scalar,
  groups: Map<Scalar, Map<string, Json>>,
  result: (Json | Map<string, Json>)[],
): Map<string, Json> {
  const known = groups.get(mark);
  if (known !== undefined) return known;
  const group = new Map<string, Json>();
  groups.set(mark, group);
  result.push(group);
  return group;
}

/** The engine takes long for each name of a large object. */
const LOOKS_PER_ENTRY = 30;

function addEntries(entries: Map<string, Json>, from: JsonObject, work: Work): void {
  const found = Object.entries(from);
  work.pay(LOOKS_PER_ENTRY * found.length);
  for (const [name, value] of found) entries.set(name, value);
}
