import type { RunLimits } from "../../core/graph/graph.ts";
import type { MapReader } from "../map-reader.ts";
import { toRunLimits } from "../run-limits.ts";

const COST = { min: 0.000001, max: 1_000_000 };

/** `limits`, with the names that a request has for them, and `max_cost_usd` beside it: the lower one holds. */
export function parseLimits(top: MapReader): RunLimits {
  const beside = top.number("max_cost_usd", COST);
  const limits = top.nested("limits");
  const within = limits?.number("max_cost_usd", COST);
  const read = toRunLimits({
    costsUsd: [beside, within],
    tokens: limits?.number("max_tokens", { min: 1, max: 1_000_000_000_000, integer: true }),
    steps: limits?.number("max_steps", { min: 1, max: 1_000_000_000, integer: true }),
    seconds: limits?.number("max_seconds", { min: 1, max: 31_536_000 }),
    onExceeded: limits?.choice("on_exceeded", ["stop", "ask"]),
  });
  limits?.reportUnknownKeys("`limits`");
  return read;
}
