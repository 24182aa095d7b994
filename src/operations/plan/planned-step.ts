import type { Step } from "../../core/graph/graph.ts";
import type { ModelPrice } from "../../ports/model-prices.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import type { Count } from "./plan-count.ts";
import type { PlannedCost, PlannedStep } from "./plan-schemas.ts";

/** The row of a step, as the definition describes it. Its cost is added later. */
export function rowOf(step: Step, name: string, instances: Count, attempts: number): Omit<PlannedStep, "cost"> {
  return {
    step: name,
    kind: step.kind,
    executor: step.kind === "task" ? step.executor : null,
    answered_by: step.kind === "approve" ? "person" : null,
    instances,
    max_concurrent: step.each?.maxConcurrent ?? null,
    attempts,
    max_turns: null,
    model: null,
    price: { is: "none", input: null, output: null },
    tokens: null,
    attempt_usd: null,
    max_cost_usd: null,
  };
}

interface Priced {
  readonly price: ModelPrice;
  readonly count: Count;
  readonly attempts: number;
  readonly perAttempt: number | undefined;
  readonly cap: number | undefined;
}

/** At worst: every instance, with every attempt, and never more than its limit. */
export function costOf({ price, count, attempts, perAttempt, cap }: Priced): PlannedCost {
  if (price.kind === "simulated") return { is: "simulated", usd: 0 };
  const whole = perAttempt === undefined ? undefined : perAttempt * attempts;
  const instance = whole === undefined || (cap !== undefined && cap < whole) ? cap : whole;
  if (instance === undefined && price.kind !== "priced")
    return {
      is: "unpriced",
      usd: null,
      because: price.kind === "unknown" ? price.reason : "its model has no known price",
    };
  if (instance === undefined)
    return { is: "unbounded", usd: null, because: "its prompt holds all outputs of a fan-out of unknown length" };
  if (count.is === "unknown") return { is: "unbounded", usd: null, because: count.because };
  return { is: "bounded", usd: toUsd(instance * count.count) };
}

const USUAL_CALL = { input: 10_000, output: 10_000 };

export async function describePrice(price: ModelPrice): Promise<PlannedStep["price"]> {
  if (price.kind !== "priced")
    return { is: price.kind === "simulated" ? "simulated" : "unpriced", input: null, output: null };
  // Dollars for a million tokens are micro-dollars for one.
  const input = await price.costMicro({ input: USUAL_CALL.input, output: 0 });
  const output = await price.costMicro({ input: 0, output: USUAL_CALL.output });
  return { is: "priced", input: input / USUAL_CALL.input, output: output / USUAL_CALL.output };
}
