import type { Step } from "../../../core/graph/graph.ts";

/** The work of a step, without its name and place in the flow. */
export type Doing = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "id"> : never) : never;

/** For what could not be read: the definition has errors and is never run. */
export const UNREADABLE: Doing = { kind: "set" };

interface Attempting {
  readonly retryPolicy: Step["retry"];
  readonly timeout: number | undefined;
}

/** The settings of single attempts. */
export function attemptsOf({ retryPolicy: retry, timeout: timeoutMs }: Attempting): Pick<Step, "retry" | "timeoutMs"> {
  return { retry, timeoutMs };
}

interface Spending extends Attempting {
  readonly atMostOnce: boolean;
  readonly maxCostUsd: number | undefined;
}

/** The same, and what concerns effects and money. */
export function effortOf(body: Spending): Pick<Step, "retry" | "timeoutMs" | "atMostOnce" | "maxCostMicro"> {
  const { atMostOnce, maxCostUsd: usd } = body;
  const maxCostMicro = usd === undefined ? undefined : Math.max(1, Math.round(usd * 1_000_000));
  return { ...attemptsOf(body), ...(atMostOnce ? { atMostOnce } : {}), maxCostMicro };
}
