import type { RunLimits, UseLimits } from "../core/graph/graph.ts";
import { optional } from "./shape/fields.ts";
import { type ObjectRules, object } from "./shape/object.ts";
import { choice, integer, number } from "./shape/scalars.ts";
import type { ReadOf, Shape } from "./shape/shape.ts";

/** `limits`, with the names that a request has for them. */
export function runLimits(cost: Shape<number>, rules: ObjectRules = {}) {
  return object(
    {
      max_cost_usd: optional(cost, "What a run may cost, in US dollars."),
      max_tokens: optional(integer(1, 1_000_000_000_000), "Tokens of models, in and out."),
      max_steps: optional(integer(1, 1_000_000_000), "Attempts of steps altogether."),
      max_seconds: optional(
        number({ min: 1, max: 31_536_000 }),
        "Seconds from the start of the run, waiting for people included.",
      ),
      on_exceeded: optional(
        choice(["stop", "ask"]),
        "Where a limit is used up: the run stops, or a person is asked to raise it.",
        { otherwise: "`stop`" },
      ),
    },
    rules,
  );
}

/** `costUsd`: stands beside the limits; the lower one holds. */
export function toRunLimits(
  limits: Partial<ReadOf<ReturnType<typeof runLimits>>> = {},
  costUsd?: number | undefined,
): RunLimits {
  const { max_cost_usd: ownCostUsd, max_tokens: maxTokens, max_steps: maxTries, max_seconds: seconds } = limits;
  const lowest = Math.min(...[costUsd, ownCostUsd].filter((usd) => usd !== undefined));
  const uses: UseLimits = {
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxTries === undefined ? {} : { maxTries }),
    ...(seconds === undefined ? {} : { maxDurationMs: Math.round(seconds * 1_000) }),
  };
  const { on_exceeded: onExceeded } = limits;
  return {
    ...(Number.isFinite(lowest) ? { maxCostMicro: Math.max(1, Math.round(lowest * 1_000_000)) } : {}),
    ...(Object.keys(uses).length === 0 ? {} : { uses }),
    ...(onExceeded === undefined ? {} : { onExceeded }),
  };
}
