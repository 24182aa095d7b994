import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { type Dict, type Key, Markup, Tuple, typeName, Undefined, type Value } from "./value.ts";

/** The key that stands for a value: 1, 1.0 and True are one. Lists and maps are no keys. */
export function toKey(value: Value, meter: Meter): Key {
  if (typeof value === "string") {
    meter.spendText(value.length);
    return value;
  }
  if (typeof value === "bigint" || value === null) return value;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) {
    value.assertLenient();
    return "\0undefined";
  }
  if (!(value instanceof Tuple)) throw wrong(`unhashable type: '${typeName(value)}'`);
  meter.spend(value.items.length);
  const parts = value.items.map((item) => {
    const key = toKey(item, meter);
    return `${typeof key}:${String(key).length}:${key}`;
  });
  const key = `\0(${parts.join()})`;
  meter.spendText(key.length);
  return key;
}

export function getItem(dict: Dict, key: Value, meter: Meter): Value | undefined {
  return dict.entries.get(toKey(key, meter))?.[1];
}

/** The key that came first stays, as in Python. */
export function setItem(dict: Dict, key: Value, value: Value, meter: Meter): void {
  const id = toKey(key, meter);
  dict.entries.set(id, [dict.entries.get(id)?.[0] ?? key, value]);
}
