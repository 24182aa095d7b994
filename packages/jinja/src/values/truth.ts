import { lengthOf } from "./iterate.ts";
import { Markup, Undefined, type Value } from "./value.ts";

export function isTrue(value: Value): boolean {
  if (value === null || typeof value !== "object") return Boolean(value);
  if (value instanceof Markup) return value.text !== "";
  if (value instanceof Undefined) {
    value.assertLenient();
    return false;
  }
  return lengthOf(value) !== 0n;
}
