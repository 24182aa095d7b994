import type { Expr } from "../../../core/expressions/expr.ts";
import type { DagFlow, Step, TaskStep } from "../../../core/graph/graph.ts";
import { literal, literalIfAny, toObject } from "../../build-expr.ts";
import type { SourceText } from "../../source/source-text.ts";
import { findItemUse, type ItemDomains } from "../items.ts";
import type { Workflow } from "../parse.ts";
import type { AgentCall, Fallback, StepDefinition } from "../parse-step.ts";
import { slotsOfStep } from "../references/slots.ts";
import { type ExprScope, lowerTemplate } from "./lower-expr.ts";

export interface LowerContext extends Pick<ItemDomains, "domainOf" | "certain" | "fieldsOf"> {
  readonly workflow: Workflow;
  readonly source: SourceText;
  readonly declared: ReadonlySet<string>;
}

export type CommonFields = Pick<
  Step,
  | "id"
  | "description"
  | "place"
  | "after"
  | "follows"
  | "itemFields"
  | "usesItem"
  | "onFailure"
  | "catch"
  | "maxCostMicro"
>;

export function lowerCommon(step: StepDefinition, scope: ExprScope, context: LowerContext): CommonFields {
  const after = [...new Set(step.dependsOn.map(({ id }) => id))];
  return {
    id: step.id,
    description: step.description,
    place: context.source.position(step),
    ...(after.length === 0 ? {} : { after }),
    ...lowerItemUse(step, scope, context),
    ...lowerOnFailure(step, scope, context),
    maxCostMicro: step.maxCostMicro,
  };
}

/** The input of the agent's executor. `timeout` is in seconds, as in the file. */
export function lowerCall(
  { model, isUsualModel, maxTurns, timeoutMs, outputSchema, tools }: AgentCall,
  prompt: Expr,
): Expr {
  return toObject([
    ["prompt", prompt],
    ["model", literal(model)],
    ["model_is_usual", literalIfAny(isUsualModel ? true : undefined)],
    ["max_turns", literal(maxTurns)],
    ["timeout", literal(timeoutMs / 1000)],
    ["output_schema", literalIfAny(outputSchema)],
    ["tools", literalIfAny(tools)],
  ]);
}

/** An id for an inner step that hides no outer step to which this one refers. */
export function freeId(wanted: string, step: StepDefinition): string {
  const named = slotsOfStep(step).flatMap(({ reference }) => (reference.to === "step" ? [reference.step] : []));
  let id = wanted;
  while (named.includes(id)) id = `${id}_`;
  return id;
}

/** Only where an item is possible at all, so that the graphs of other steps stay plain. */
function lowerItemUse(
  step: StepDefinition,
  scope: ExprScope,
  { domainOf, certain }: LowerContext,
): Pick<Step, "follows" | "itemFields" | "usesItem"> {
  if (!scope.perItem) return {};
  if (certain.has(step.id)) return { follows: domainOf.get(step.id) };
  const { fields, whole } = findItemUse(step, scope.declared);
  return { ...(fields.length === 0 ? {} : { itemFields: fields }), ...(whole ? { usesItem: true } : {}) };
}

function lowerOnFailure(
  step: StepDefinition,
  scope: ExprScope,
  context: LowerContext,
): Pick<Step, "onFailure" | "catch"> {
  const { onFailure, fallback } = step;
  if (onFailure === "skip" || onFailure === "continue") return { onFailure };
  if (onFailure === "abort" || fallback === undefined) return {};
  return { catch: lowerFallback(step, fallback, { scope, context }) };
}

function lowerFallback(
  step: StepDefinition,
  fallback: Fallback,
  { scope, context }: { readonly scope: ExprScope; readonly context: LowerContext },
): DagFlow {
  const task: TaskStep = {
    id: freeId("fallback", step),
    place: context.source.position(fallback),
    kind: "task",
    executor: "agent",
    input: lowerCall(fallback, lowerTemplate(fallback.prompt, scope)),
    timeoutMs: fallback.timeoutMs,
    policies: step.policies,
  };
  return { kind: "dag", steps: [task], result: task.id };
}
