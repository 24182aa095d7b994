import type { Expr } from "../../../core/expressions/expr.ts";
import type { Step } from "../../../core/graph/graph.ts";
import type { StepDefinition } from "../workflow.ts";

/** What a step does, without its name and place in the flow. */
export type Doing = Step extends infer Kind ? (Kind extends Step ? Omit<Kind, "id"> : never) : never;

/** For what could not be read: the definition has errors and is never run. */
export const UNREADABLE: Doing = { kind: "set" };

/** What concerns single attempts at the work. */
export function attemptsOf({ retry, timeoutMs }: StepDefinition): Pick<Step, "retry" | "timeoutMs"> {
  return { retry, timeoutMs };
}

/** The same, and what concerns effects and money. */
export function effortOf(step: StepDefinition): Pick<Step, "retry" | "timeoutMs" | "atMostOnce" | "maxCostMicro"> {
  const { atMostOnce, maxCostMicro } = step;
  return { ...attemptsOf(step), ...(atMostOnce ? { atMostOnce } : {}), maxCostMicro };
}

export function outputOf(step: string, ...path: readonly (string | number)[]): Expr {
  return { op: "path", root: "steps", name: step, path };
}
