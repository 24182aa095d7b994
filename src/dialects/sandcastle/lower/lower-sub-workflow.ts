import type { Expr } from "../../../core/expressions/expr.ts";
import type { CallStep, RespondStep, Step } from "../../../core/graph/graph.ts";
import { inputAt, outputOf, toObject } from "../../build-expr.ts";
import type { StepDefinition, SubWorkflowBody } from "../parse-step.ts";
import type { Path } from "../references/reference.ts";
import { type CommonFields, freeId } from "./lower-common.ts";
import { type ExprScope, lowerTemplate, lowerValue } from "./lower-expr.ts";

interface SubWorkflowContext {
  readonly common: CommonFields;
  /** The settings of the call itself, for each attempt and each item. */
  readonly doing: Pick<Step, "each" | "retry" | "timeoutMs" | "atMostOnce">;
  readonly scope: ExprScope;
}

/**
 * Without an `output_mapping` a call, whose output is the child's. With one, a flow of the call and a `respond` that picks
 * from its output. A fan-out then lies inside, on the call: the original answers with a map of lists, not a list of maps.
 */
export function lowerSubWorkflow(
  step: StepDefinition,
  body: SubWorkflowBody,
  { common, doing, scope }: SubWorkflowContext,
): Step {
  const call = {
    ...doing,
    kind: "call",
    workflow: lowerTemplate(body.workflow, scope),
    input: lowerChildInput(step, body, scope),
    policies: step.policies,
  } as const;
  if (body.output === undefined) return { ...common, ...call };
  const { outer, inner } = step.fanOut === undefined ? { outer: common, inner: {} } : splitFanOut(common);
  const callStep: CallStep = { id: freeId("call", step), ...inner, ...call };
  const respond: RespondStep = {
    id: freeId("respond", step),
    after: [callStep.id],
    kind: "respond",
    value: pickOutputs(body.output, { callId: callStep.id, isList: step.fanOut !== undefined }),
  };
  return { ...outer, kind: "flow", flow: { kind: "dag", steps: [callStep, respond] } };
}

/** Items, and what the failure of one of them means, belong to the call; the step around it runs once. */
function splitFanOut({ itemFields, usesItem, onFailure, ...rest }: CommonFields) {
  const rule = onFailure === undefined ? {} : { onFailure };
  const items = { itemFields, usesItem };
  return { outer: { ...rest, ...rule }, inner: { ...items, ...rule } };
}

/** A child that is called once per item finds, like in the original, the item in its input as `_item`, its number as `_index`. */
function lowerChildInput(step: StepDefinition, body: SubWorkflowBody, scope: ExprScope): Expr {
  if (body.input === undefined && step.fanOut === undefined) return inputAt();
  const mapped = body.input === undefined ? passDeclared(scope) : lowerMapping(body.input, scope);
  return toObject(step.fanOut === undefined ? mapped : [...mapped, ...ITEM_ENTRIES]);
}

const ITEM_ENTRIES: readonly NamedExpr[] = [
  ["_item", { op: "path", root: "item", path: [] }],
  ["_index", { op: "path", root: "index", path: [] }],
];

type NamedExpr = readonly [name: string, value: Expr];

function passDeclared({ declared }: ExprScope): readonly NamedExpr[] {
  return [...declared].map((name) => [name, inputAt(name)]);
}

function lowerMapping(mapping: NonNullable<SubWorkflowBody["input"]>, scope: ExprScope): readonly NamedExpr[] {
  return [...mapping].map(([name, value]) => [name, lowerValue(value, scope)]);
}

function pickOutputs(
  output: NonNullable<SubWorkflowBody["output"]>,
  { callId, isList }: { readonly callId: string; readonly isList: boolean },
): Expr {
  const pick = (path: Path) => (isList ? pickFromEach(callId, path) : outputOf(callId, ...path));
  return toObject([...output].map(([name, path]) => [name, pick(path)]));
}

function pickFromEach(callId: string, path: Path): Expr {
  const list = outputOf(callId);
  return { op: "map", list, as: "child", body: { op: "path", root: "local", name: "child", path } };
}
