import type { Each } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import { type Count, exactly, unknown } from "./plan-count.ts";
import { isKnown, type KnownValues, valuesOf } from "./plan-values.ts";

/** A list that is known is counted; one that a step makes is not known before. */
export function countItems(
  { list, coerce = false }: Each,
  known: KnownValues,
): { readonly count: Count; readonly items: readonly Json[] | undefined } {
  if (!isKnown(list, known))
    return { count: unknown("the list of its fan-out comes from an earlier step"), items: undefined };
  const lists = valuesOf(list, known).map((value) => toItems(value, coerce));
  const lengths = new Set(lists.map(({ length }) => length));
  const count = Math.max(0, ...lengths);
  return { count: lengths.size <= 1 ? exactly(count) : { is: "at_most", count }, items: lists.flat() };
}

function toItems(value: Json | undefined, coerce: boolean): readonly Json[] {
  if (Array.isArray(value)) return value;
  return coerce && value !== undefined && value !== null ? [value] : [];
}
