import { isJsonObject, isNumber, type Json } from "../json.ts";
import { tooLarge, type Work } from "./work.ts";

/** Null, false, true, numbers, texts, lists, objects. */
function rankOf(value: Json): number {
  if (value === null) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (isNumber(value)) return 3;
  if (typeof value === "string") return 4;
  return Array.isArray(value) ? 5 : 6;
}

/**
 * The one order of all values: by kind, then numbers by size, texts by code point, lists by their elements, objects by their names and
 * values in the order of the names. 0 for what is equal, of whatever order its names are.
 */
export function compareValues(left: Json, right: Json, work: Work): number {
  if (typeof left === "object" && typeof right === "object" && left !== null && right !== null)
    work.payWalkOfBoth(left, right);
  else work.pay(1);
  try {
    return compare(left, right);
  } catch (error) {
    // The stack: no value that people sort by is nested so deeply.
    throw error instanceof RangeError ? tooLarge() : error;
  }
}

function compare(left: Json, right: Json): number {
  const byKind = rankOf(left) - rankOf(right);
  if (byKind !== 0) return byKind;
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (Array.isArray(left) && Array.isArray(right)) return compareLists(left, right);
  return isJsonObject(left) && isJsonObject(right) ? compareLists(namesFirst(left), namesFirst(right)) : 0;
}

function compareLists(left: readonly Json[], right: readonly Json[]): number {
  for (const [at, value] of [...left].entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    const order = compare(value, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function namesFirst(value: { readonly [name: string]: Json }): readonly Json[] {
  const names = Object.keys(value).sort(compareTexts);
  return [...names, ...names.map((name) => value[name] ?? null)];
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const end = Math.min(left.length, right.length);
  for (let at = 0; at < end; at += 1) {
    const [a, b] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (a !== b) return byCodePoint(a) - byCodePoint(b);
  }
  return left.length - right.length;
}

/** Halves of code points beyond the first 65,536 come behind all others. */
function byCodePoint(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
