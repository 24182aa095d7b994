import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { iterate } from "./iterate.ts";
import { toKey } from "./keys.ts";
import { Dict, DictView, isText, Markup, Range, Tuple, typeName, Undefined, type Value } from "./value.ts";

export type Numeric = bigint | number;

/** A number, or a truth value as one. */
export function toNumeric(value: Value): Numeric | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  return undefined;
}

export function equals(left: Value, right: Value, meter: Meter): boolean {
  meter.spend();
  if (left instanceof Undefined) left.assertLenient();
  if (right instanceof Undefined) right.assertLenient();
  if (left === right) return true;
  const [a, b] = [toNumeric(left), toNumeric(right)];
  if (a !== undefined && b !== undefined) return a <= b && a >= b;
  if (isText(left) && isText(right)) {
    if (plain(left).length !== plain(right).length) return false;
    meter.spendText(plain(left).length);
    return plain(left) === plain(right);
  }
  if (left instanceof Undefined) return right instanceof Undefined;
  if (Array.isArray(left) && Array.isArray(right)) return sameItems(left, right, meter);
  if (left instanceof Tuple && right instanceof Tuple) return sameItems(left.items, right.items, meter);
  if (left instanceof Dict && right instanceof Dict) return sameDicts(left, right, meter);
  if (left instanceof Range && right instanceof Range)
    return (
      left.length === right.length && (left.length === 0n || (left.start === right.start && left.step === right.step))
    );
  return false;
}

function sameItems(left: readonly Value[], right: readonly Value[], meter: Meter): boolean {
  return left.length === right.length && left.every((item, index) => equals(item, right[index] ?? null, meter));
}

function sameDicts(left: Dict, right: Dict, meter: Meter): boolean {
  if (left.size !== right.size) return false;
  for (const [key, [, value]] of left.entries) {
    const other = right.entries.get(key);
    if (other === undefined || !equals(value, other[1], meter)) return false;
  }
  return true;
}

type Order = "<" | "<=" | ">" | ">=";

/** Numbers, texts and lists have an order, and only among their kind. */
export function compare(left: Value, right: Value, operator: Order, meter: Meter): boolean {
  meter.spend();
  const [a, b] = [toNumeric(left), toNumeric(right)];
  if (a !== undefined && b !== undefined) return holds(a < b ? -1 : a > b ? 1 : a <= b ? 0 : Number.NaN, operator);
  if (isText(left) && isText(right)) {
    meter.spendText(plain(left).length + plain(right).length);
    return holds(compareTexts(plain(left), plain(right)), operator);
  }
  const [x, y] = [listOf(left), listOf(right)];
  if (x !== undefined && y !== undefined && Array.isArray(left) === Array.isArray(right)) {
    const index = x.findIndex((item, at) => at >= y.length || !equals(item, y[at] ?? null, meter));
    if (index >= 0 && index < y.length) return compare(x[index] ?? null, y[index] ?? null, operator, meter);
    return holds(x.length - y.length, operator);
  }
  const missing = [left, right].find((value) => value instanceof Undefined);
  if (missing instanceof Undefined) throw missing.fault();
  throw wrong(`'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`);
}

/** By code points, which UTF-16 does not order by. */
export function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  if (!/[\ud800-\udfff]/.test(left) || !/[\ud800-\udfff]/.test(right)) {
    if (!/[\ud800-\uffff]/.test(left + right)) return left < right ? -1 : 1;
  }
  const [a, b] = [[...left], [...right]];
  for (const [index, char] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (char !== other) return (char.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return -1;
}

function holds(difference: number, operator: Order): boolean {
  if (operator === "<") return difference < 0;
  if (operator === "<=") return difference <= 0;
  return operator === ">" ? difference > 0 : difference >= 0;
}

/** `in`. */
export function contains(container: Value, value: Value, meter: Meter): boolean {
  if (isText(container)) {
    if (value instanceof Undefined) throw value.fault();
    if (!isText(value)) throw wrong(`'in <string>' requires string as left operand, not ${typeName(value)}`);
    meter.spendSearch(plain(container), plain(value));
    return plain(container).includes(plain(value));
  }
  if (container instanceof Dict) return container.entries.has(toKey(value, meter));
  if (container instanceof DictView && container.part === "keys")
    return container.dict.entries.has(toKey(value, meter));
  if (container instanceof Range) {
    const number = toNumeric(value);
    if (number === undefined || (typeof number === "number" && !Number.isInteger(number))) return false;
    const offset = BigInt(number) - container.start;
    return (
      offset % container.step === 0n && offset / container.step >= 0n && offset / container.step < container.length
    );
  }
  for (const item of iterate(container, meter)) if (equals(item, value, meter)) return true;
  return false;
}

export function plain(value: string | Markup): string {
  return value instanceof Markup ? value.text : value;
}

function listOf(value: Value): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  return value instanceof Tuple ? value.items : undefined;
}
