/**
 * The lowest of all limits in micro-dollars: whoever starts a run can lower what its definition or an API key allows, and
 * raise neither.
 */
export function limitCost(limits: readonly (number | undefined)[]): { readonly maxCostMicro?: number } {
  const lowest = Math.min(...limits.filter((limit) => limit !== undefined));
  return Number.isFinite(lowest) ? { maxCostMicro: lowest } : {};
}
