import type { RunLimitsDescription } from "../../../../operations/costs/use-limits.ts";

/** `2000 tokens, 10 steps, then a person is asked`. */
export function showLimits({ max_tokens, max_steps, max_seconds, on_exceeded }: RunLimitsDescription): string {
  return [
    ...(max_tokens === undefined ? [] : [`${max_tokens} tokens`]),
    ...(max_steps === undefined ? [] : [`${max_steps} tries of steps`]),
    ...(max_seconds === undefined ? [] : [`${max_seconds} s`]),
    on_exceeded === "ask" ? "then a person is asked" : "then it stops",
  ].join(", ");
}
