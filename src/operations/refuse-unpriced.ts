import { PawlError } from "../core/errors/pawl-error.ts";
import type { Expr } from "../core/expressions/expr.ts";
import type { Flow, Graph, Step } from "../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Application } from "./application.ts";

type TaskStep = Extract<Step, { readonly kind: "task" }>;

interface Spending {
  /** Of the run, where whoever starts it limits it. */
  readonly maxCostMicro?: number;
  readonly options: JsonObject;
}

/**
 * Refuses a run under a budget that could not hold, before it has begun: an agent of Pawl itself whose model has no known
 * price. What cannot be known yet (called workflows, models that the input names) and steps that may fail are left to the
 * step itself. Throws `PRICE_UNKNOWN`.
 */
export async function refuseUnpriced(
  app: Pick<Application, "hasPrice">,
  graph: Graph,
  { maxCostMicro, options }: Spending,
): Promise<void> {
  const answeredBy = typeof options["agent"] === "string" ? options["agent"] : "";
  if (answeredBy.startsWith("simulated")) return;
  const ofRun = maxCostMicro ?? graph.limits.maxCostMicro;
  const asked = new Set<string>();
  for (const step of certainTasksOf(graph.flow)) {
    const isOurs = step.executor === "inline" || (step.executor === "agent" && answeredBy === "inline");
    const { model, hasOwnBudget } = readInput(step.input);
    const hasBudget = (ofRun ?? step.maxCostMicro) !== undefined || hasOwnBudget;
    if (!isOurs || !hasBudget || model === undefined || asked.has(model)) continue;
    asked.add(model);
    if (await app.hasPrice(model)) continue;
    throw new PawlError("PRICE_UNKNOWN", {
      message: `The model ${model} of the step "${step.id}" has no known price, so a budget cannot hold.`,
      remedy: `Set \`models.prices\` for "${model}", or run without a budget.`,
    });
  }
}

/** Those whose failure is the run's. */
function certainTasksOf(flow: Flow): readonly TaskStep[] {
  return flow.steps.flatMap((step) => {
    if (step.catch !== undefined || (step.onFailure ?? "abort") !== "abort") return [];
    if (step.kind === "flow") return certainTasksOf(step.flow);
    return step.kind === "task" ? [step] : [];
  });
}

function readInput(input: Expr): { readonly model: string | undefined; readonly hasOwnBudget: boolean } {
  if (input.op !== "object") return { model: undefined, hasOwnBudget: false };
  const { agent, model } = input.entries;
  const described = literalIn(agent);
  const named = isJsonObject(described) ? described["model"] : literalIn(model);
  return {
    model: typeof named === "string" && named !== "" ? named : undefined,
    hasOwnBudget: isJsonObject(described) && described["max_cost_usd"] !== undefined,
  };
}

function literalIn(expression: Expr | undefined): Json | undefined {
  return expression?.op === "literal" ? expression.value : undefined;
}
