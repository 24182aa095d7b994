import { isJsonObject, isNumber, type Json } from "../json.ts";
import type { Work } from "./work.ts";

/** Deep equality of JSON values, without recursion; `undefined` equals nothing but itself. */
export function isEqual(left: Json | undefined, right: Json | undefined, work?: Work): boolean {
  if (left === right) return true;
  if (work !== undefined && isContainer(left) && isContainer(right)) work.payWalkOfBoth(left, right);
  const pending: (readonly [Json | undefined, Json | undefined])[] = [[left, right]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [a, b] = next;
    if (a !== b && !isSameNumber(a, b) && !hasEqualShape(a, b, pending)) return false;
  }
  return true;
}

function isContainer(value: Json | undefined): value is Json & object {
  return typeof value === "object" && value !== null;
}

/** A double and a bigint may be the same number, e.g. 1e20. */
function isSameNumber(a: Json | undefined, b: Json | undefined): boolean {
  return isNumber(a) && isNumber(b) && a <= b && a >= b;
}

/** The contents of the two are still to be compared. */
function hasEqualShape(
  a: Json | undefined,
  b: Json | undefined,
  pending: (readonly [Json | undefined, Json | undefined])[],
): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false;
    for (const [index, item] of a.entries()) pending.push([item, b[index]]);
    return true;
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  for (const name of names) {
    if (!Object.hasOwn(b, name)) return false;
    pending.push([a[name], b[name]]);
  }
  return true;
}
