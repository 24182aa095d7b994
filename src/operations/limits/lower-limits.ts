import type { RunLimits, UseLimits } from "../../core/graph/graph.ts";

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
  return toUses((kind) => lowestOf(limits.map((each) => each?.[kind])));
}

/**
 * Limits of a run, once more with another state of its definition: where the definition had the last word it has it again,
 * and what was asked for below it stays.
 */
export function limitAnew(limits: RunLimits, before: RunLimits, now: RunLimits): RunLimits {
  const anew = (was: number | undefined, ofBefore: number | undefined, ofNow: number | undefined) =>
    was === ofBefore ? ofNow : lowestOf([was, ofNow]);
  const { onExceeded = "stop" } = limits;
  const cost = anew(limits.maxCostMicro, before.maxCostMicro, now.maxCostMicro);
  return {
    maxCostMicro: cost,
    ...toUses((kind) => anew(limits.uses?.[kind], before.uses?.[kind], now.uses?.[kind])),
    onExceeded: onExceeded === (before.onExceeded ?? "stop") ? (now.onExceeded ?? "stop") : onExceeded,
  };
}

function toUses(limitOf: (kind: keyof UseLimits) => number | undefined): { readonly uses?: UseLimits } {
  const kinds = ["maxTokens", "maxTries", "maxDurationMs"] as const;
  const limited = kinds.flatMap((kind) => {
    const limit = limitOf(kind);
    return limit === undefined ? [] : [[kind, limit] as const];
  });
  return limited.length === 0 ? {} : { uses: Object.fromEntries(limited) };
}

function lowestOf(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
