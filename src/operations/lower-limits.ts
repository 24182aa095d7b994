import type { UseLimits } from "../core/graph/graph.ts";

/**
 * The lowest of all limits in micro-dollars: whoever starts a run can lower what its definition or an API key allows, and
 * raise neither.
 */
export function limitCost(limits: readonly (number | undefined)[]): { readonly maxCostMicro?: number } {
  const lowest = lowestOf(limits);
  return lowest === undefined ? {} : { maxCostMicro: lowest };
}

/** The same for everything but money. */
export function limitUses(limits: readonly (UseLimits | undefined)[]): { readonly uses?: UseLimits } {
  const kinds = ["maxTokens", "maxTries", "maxDurationMs"] as const;
  const lowest = kinds.flatMap((kind) => {
    const limit = lowestOf(limits.map((each) => each?.[kind]));
    return limit === undefined ? [] : [[kind, limit] as const];
  });
  return lowest.length === 0 ? {} : { uses: Object.fromEntries(lowest) };
}

function lowestOf(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
