import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { Dict, DictView, Markup, Range, Stream, Tuple, typeName, Undefined, type Value } from "./value.ts";

/** The values of what can be gone through. Each costs a step. Undefined: it cannot be. */
function iterator(value: Value): Iterable<Value> | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return value;
  if (value instanceof Tuple) return value.items;
  if (value instanceof Dict) return viewItems(value, "keys");
  if (value instanceof DictView) return viewItems(value.dict, value.part);
  if (value instanceof Markup) return value.text;
  if (value instanceof Range) return rangeItems(value);
  if (value instanceof Stream) return { [Symbol.iterator]: () => value.values };
  if (value instanceof Undefined) {
    value.assertLenient();
    return [];
  }
  return undefined;
}

export function isIterable(value: Value): boolean {
  return !(value instanceof Undefined && value.isStrict) && iterator(value) !== undefined;
}

/** Goes through a value, step by step. Throws at once where that is not possible. */
export function iterate(value: Value, meter: Meter): Iterable<Value> {
  const items = iterator(value);
  if (items === undefined) throw wrong(`'${typeName(value)}' object is not iterable`);
  return paid(items, meter);
}

export function toList(value: Value, meter: Meter): Value[] {
  return [...iterate(value, meter)];
}

function* paid(items: Iterable<Value>, meter: Meter): Iterable<Value> {
  for (const item of items) {
    meter.spend();
    yield item;
  }
}

function* viewItems({ entries }: Dict, part: DictView["part"]): Iterable<Value> {
  for (const [key, value] of entries.values())
    yield part === "keys" ? key : part === "values" ? value : new Tuple([key, value]);
}

function* rangeItems({ start, step, length }: Range): Iterable<Value> {
  for (let index = 0n; index < length; index += 1n) yield start + index * step;
}

/** What `len()` says. */
export function lengthOf(value: Value): bigint | undefined {
  if (Array.isArray(value)) return BigInt(value.length);
  if (value instanceof Tuple) return BigInt(value.items.length);
  if (value instanceof Dict) return BigInt(value.size);
  if (value instanceof DictView) return BigInt(value.dict.size);
  if (value instanceof Range) return value.length;
  return undefined;
}
