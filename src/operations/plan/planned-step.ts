import type { Step } from "../../core/graph/graph.ts";
import type { Count } from "./plan-count.ts";

/** A step of a plan. Everything that is not known says so; `usd` is `null` then, never 0. */
export interface PlannedStep {
  /** `outer/inner`; `~catch` and `~finally` as in paths of runs. */
  readonly step: string;
  readonly kind: Step["kind"];
  readonly executor: string | null;
  readonly instances: Count;
  /** Of a fan-out: instances in flight at once. */
  readonly max_concurrent: number | null;
  /** Tries of one instance, the first included. */
  readonly attempts: number;
  readonly max_turns: number | null;
  readonly model: string | null;
  readonly price: PlannedPrice;
  /** Of one attempt. */
  readonly tokens: { readonly calls: number; readonly first_input: number | null; readonly output: number } | null;
  readonly attempt_usd: number | null;
  /** What the definition allows one instance. */
  readonly max_cost_usd: number | null;
  readonly cost: PlannedCost;
}

export interface PlannedPrice {
  readonly is: "priced" | "unpriced" | "simulated" | "none";
  /** US dollars for a million tokens of a call of usual length. */
  readonly input: number | null;
  readonly output: number | null;
}

/** `none`: no model is asked. `unpriced`: nobody knows its price. `unbounded`: nothing limits how much it is. */
export interface PlannedCost {
  readonly is: "bounded" | "unpriced" | "unbounded" | "simulated" | "none";
  readonly usd: number | null;
  readonly because?: string;
}

/** What the definition says of a step; what it costs is for others to add. */
export function rowOf(step: Step, name: string, instances: Count, attempts: number): Omit<PlannedStep, "cost"> {
  return {
    step: name,
    kind: step.kind,
    executor: step.kind === "task" ? step.executor : null,
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
