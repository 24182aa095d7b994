import type { RunLimits, UseLimits } from "../core/graph/graph.ts";

/** What definitions say in `limits`, in the units of people. */
export interface WrittenLimits {
  /** Several say how much money: the lowest holds. */
  readonly costsUsd: readonly (number | undefined)[];
  readonly tokens: number | undefined;
  readonly steps: number | undefined;
  readonly seconds: number | undefined;
  readonly onExceeded: "stop" | "ask" | undefined;
}

export function toRunLimits({ costsUsd, tokens, steps, seconds, onExceeded }: WrittenLimits): RunLimits {
  const lowest = Math.min(...costsUsd.filter((usd) => usd !== undefined));
  const uses: UseLimits = {
    ...(tokens === undefined ? {} : { maxTokens: tokens }),
    ...(steps === undefined ? {} : { maxTries: steps }),
    ...(seconds === undefined ? {} : { maxDurationMs: Math.round(seconds * 1_000) }),
  };
  return {
    ...(Number.isFinite(lowest) ? { maxCostMicro: Math.max(1, Math.round(lowest * 1_000_000)) } : {}),
    ...(Object.keys(uses).length === 0 ? {} : { uses }),
    ...(onExceeded === undefined ? {} : { onExceeded }),
  };
}
