/** How often something happens, as far as that is known before it begins. */
export type Count =
  | { readonly is: "exact" | "at_most"; readonly count: number }
  | { readonly is: "unknown"; readonly count: null; readonly because: string };

export const ONCE: Count = { is: "exact", count: 1 };

export function exactly(count: number): Count {
  return { is: "exact", count };
}

export function unknown(because: string): Count {
  return { is: "unknown", count: null, because };
}

/** A step that is never reached happens 0 times, even if something inside it is unknown. */
export function times(outer: Count, inner: Count): Count {
  if (outer.count === 0 || inner.count === 0) return exactly(0);
  if (outer.is === "unknown") return outer;
  if (inner.is === "unknown") return inner;
  return {
    is: outer.is === "exact" && inner.is === "exact" ? "exact" : "at_most",
    count: outer.count * inner.count,
  };
}

export function atMost(count: Count): Count {
  return count.is === "exact" && count.count > 0 ? { is: "at_most", count: count.count } : count;
}
