import type { Meter } from "../meter.ts";
import { compare } from "./compare.ts";
import type { Value } from "./value.ts";

/** Stable, and stable in reverse too, as Python's `sorted`. */
export function sortValues(
  items: readonly Value[],
  keyOf: (item: Value) => Value,
  isReverse: boolean,
  meter: Meter,
): Value[] {
  meter.spend(items.length);
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  keyed.sort((left, right) => {
    const [a, b] = isReverse ? [right, left] : [left, right];
    if (compare(a.key, b.key, "<", meter)) return -1;
    return compare(b.key, a.key, "<", meter) ? 1 : 0;
  });
  return keyed.map(({ item }) => item);
}
