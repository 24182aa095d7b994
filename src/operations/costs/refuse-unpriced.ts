import { PawlError } from "../../core/errors/pawl-error.ts";
import { literalOf } from "../../core/expressions/expr.ts";
import type { Flow, Graph, Step, Transition } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Execution } from "../application/ports.ts";

type TaskStep = Extract<Step, { readonly kind: "task" }>;

interface Spending {
  /** The limit of the run, if the caller sets one. */
  readonly maxCostMicro?: number;
  /** It shares one that limits money. */
  readonly hasBudget?: boolean;
  readonly options: JsonObject;
  /** For steps that name none. */
  readonly defaultModel?: string | undefined;
}

/**
 * Refuses a run under a budget that could not hold, before it has begun: an agent of Pawl itself, or a step that asks a
 * model, whose model has no known price. What cannot be known yet (called workflows, models that the input names, branches) and
 * steps that may fail are left to the step itself. Throws `PRICE_UNKNOWN`.
 */
export async function refuseUnpriced(
  app: Pick<Execution, "hasPrice">,
  graph: Graph,
  { maxCostMicro, hasBudget: isShared = false, options, defaultModel }: Spending,
): Promise<void> {
  const ofRun = maxCostMicro ?? graph.limits.maxCostMicro;
  const asked = new Set<string>();
  for (const step of certainTasksOf(graph.flow)) {
    if (!asksModel(step, options)) continue;
    const { model = defaultModel, isKnown, hasOwnBudget } = readAskedModel(step, graph);
    const hasBudget = isShared || (ofRun ?? step.maxCostMicro) !== undefined || hasOwnBudget;
    if (!hasBudget || !isKnown || model === undefined || asked.has(model)) continue;
    asked.add(model);
    if (await app.hasPrice(model)) continue;
    throw new PawlError("PRICE_UNKNOWN", {
      message: `The model ${model} of the step "${step.id}" has no known price, so a budget cannot hold.`,
      remedy: `Set \`models.prices\` for "${model}", or run without a budget.`,
    });
  }
}

/** Simulated agents cost nothing; what they are put in the place of is not asked. */
function asksModel({ executor }: TaskStep, options: JsonObject): boolean {
  if (isSimulated(options)) return false;
  return executor === "llm" || executor === "inline" || (executor === "agent" && options["agent"] === "inline");
}

/** Answers of a run with these options are made up. */
export function isSimulated({ agent }: JsonObject): boolean {
  return agent === "simulated" || (typeof agent === "string" && agent.startsWith("simulated:"));
}

/** Those whose failure is the run's. */
function certainTasksOf(flow: Flow): readonly TaskStep[] {
  return certainStepsOf(flow).flatMap((step) => {
    if (step.catch !== undefined || (step.onFailure ?? "abort") !== "abort") return [];
    if (step.transitions?.some(({ on, to }) => on !== "success" && typeof to === "string")) return [];
    if (step.kind === "flow") return certainTasksOf(step.flow);
    return step.kind === "task" ? [step] : [];
  });
}

/** For a machine: the steps that follow each other before it may choose. */
function certainStepsOf(flow: Flow): readonly Step[] {
  if (flow.kind === "dag") return flow.steps;
  const steps = new Map(flow.steps.map((step) => [step.id, step]));
  const certain = new Set<Step>();
  for (let next = steps.get(flow.start); next !== undefined && !certain.has(next); ) {
    certain.add(next);
    const transition: Transition | undefined = next.transitions?.find(({ on }) => on !== "failure");
    const isSure = transition?.when === undefined && typeof transition?.to === "string";
    next = isSure ? steps.get(String(transition.to)) : undefined;
  }
  return [...certain];
}

interface AskedModel {
  /** Undefined: none is named. */
  readonly model: string | undefined;
  /** False: the input says which. */
  readonly isKnown: boolean;
  readonly hasOwnBudget: boolean;
}

/** The model that a step names, as far as the definition fixes it. */
export function readAskedModel({ input }: TaskStep, { settings }: Graph): AskedModel {
  if (input.op !== "object") return { model: undefined, isKnown: false, hasOwnBudget: false };
  const { agent, model: written, model_is_usual: isUsual, promptTemplate } = input.entries;
  const model = isUsual === undefined ? written : undefined;
  const described = literalOf(agent);
  const file = ownIn(settings["prompts"], literalOf(promptTemplate));
  const named = isJsonObject(described) ? described["model"] : (literalOf(model) ?? ownIn(file, "model"));
  return {
    model: typeof named === "string" && named !== "" ? named : undefined,
    isKnown: [agent, model, promptTemplate].every((entry) => entry === undefined || entry.op === "literal"),
    hasOwnBudget: isJsonObject(described) && described["max_cost_usd"] !== undefined,
  };
}

function ownIn(from: Json | undefined, name: Json | undefined): Json | undefined {
  return isJsonObject(from) && typeof name === "string" && Object.hasOwn(from, name) ? from[name] : undefined;
}
