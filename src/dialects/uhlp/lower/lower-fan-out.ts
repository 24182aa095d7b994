import type { Expr } from "../../../core/expressions/expr.ts";
import type { DagFlow, SetStep, Step } from "../../../core/graph/graph.ts";
import { call, literal, outputOf, toObject } from "../../build-expr.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import type { ExpressionScope } from "../expressions/expression-fault.ts";
import type { ControlOf, StepDefinition } from "../shape/step-shape.ts";
import { type PlanBlock, type PlannedBlock, toStep } from "./flow-plan.ts";
import { attemptsOf, type Doing, freeId, UNREADABLE } from "./lower-context.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";

/** A fan-out of the body in a flow of its own: seen from outside, its output is an ordinary list. */
export function lowerLoop(
  step: StepDefinition,
  body: ControlOf<"loop">,
  scope: ValueScope,
  planBlock: PlanBlock,
): Doing {
  if (body.list === undefined || body.body === undefined) return UNREADABLE;
  const { list, before, after } = (body.continueOnError ? lowerCheckedList : lowerList)(body.list, scope);
  const planned = planBlock(body.body, step, scope.flow);
  if (planned === undefined) return UNREADABLE;
  const id = fanOutId(planned, "item", scope);
  const variables = [
    [body.iteratorVar, { root: "item", name: id }],
    [body.indexVar, { root: "index", name: id }],
  ] as const;
  const item: Step = {
    ...lowerItem(planned, { id, variables, scope }),
    ...(after.length === 0 ? {} : { after }),
    each: { list, maxConcurrent: body.maxConcurrency },
    ...failureRule(body),
  };
  return { ...attemptsOf(body), kind: "flow", flow: { kind: "dag", steps: [...before, item], result: id } };
}

export function lowerParallel(
  step: StepDefinition,
  body: ControlOf<"parallel">,
  scope: ValueScope,
  planBlock: PlanBlock,
): Doing {
  const { context, flow } = scope;
  const steps = (body.branches ?? []).flatMap(({ name, at, block }): readonly Step[] => {
    const planned = planBlock(block, step, flow);
    if (planned === undefined) return [];
    if (flow.visible.has(name)) {
      const message = `The branch \`${name}\` has the name of a step that it can read.`;
      context.problems.error({ code: "STEP_DUPLICATE", at, message, remedy: "Rename one of the two." });
    }
    return [{ ...toStep(planned.lower({}), name), ...failureRule(body) }];
  });
  const branches: DagFlow = { kind: "dag", steps };
  return { ...attemptsOf(body), kind: "flow", flow: branches };
}

export type LoopVariables = readonly (readonly [string, { readonly root: "item" | "index"; readonly name: string }])[];

/** The body as the step that fans out, in which the loop's variables have a meaning. */
export function lowerItem(
  planned: PlannedBlock,
  { id, variables, scope }: { readonly id: string; readonly variables: LoopVariables; readonly scope: ValueScope },
): Step {
  const { locals, fanOuts } = scope.flow;
  const named: ExpressionScope["locals"] = new Map([...locals, ...variables]);
  return toStep(planned.lower({ locals: named, fanOuts: new Set([...fanOuts, id]) }), id);
}

/** That of the only step of the body, unless a fan-out around has it already: variables are found by it. */
export function fanOutId({ onlyId }: PlannedBlock, wanted: string, { flow, context }: ValueScope): string {
  if (onlyId !== undefined && !flow.fanOuts.has(onlyId)) return onlyId;
  return freeId(wanted, context, flow.fanOuts);
}

export function failureRule({ continueOnError }: { readonly continueOnError: boolean }): Pick<Step, "onFailure"> {
  return continueOnError ? { onFailure: "continue" } : {};
}

export interface LoweredList {
  readonly list: Expr;
  /** Steps of a dag that compute it. */
  readonly before: readonly SetStep[];
  readonly after: readonly string[];
}

/**
 * The list of a fan-out, from one place: what is not simply a path to an output or the input is computed once, before.
 * Null is no list: then the path leads nowhere, and the fan-out fails.
 */
export function lowerList(node: YamlNode, scope: ValueScope): LoweredList {
  const expr = lowerValue(node, scope);
  const list = call("coalesce", expr);
  if (expr.op === "path" && (expr.root === "steps" || expr.root === "input")) return { list, before: [], after: [] };
  const id = freeId("list", scope.context, scope.flow.fanOuts);
  const value = toObject([["items", list]]);
  return { list: outputOf(id, "items"), before: [{ kind: "set", id, value }], after: [id] };
}

/** The same where failures of items count for nothing: what is no list still has to fail. */
function lowerCheckedList(node: YamlNode, scope: ValueScope): LoweredList {
  const { list, before, after } = lowerList(node, scope);
  const id = freeId("checked", scope.context, scope.flow.fanOuts);
  const check: SetStep = { kind: "set", id, after, each: eachWhole(list), value: wholeOf(id) };
  return { list: outputOf(id, 0), before: [...before, check], after: [id] };
}

/** A fan-out with one item, which is the whole list: so what is no list fails as it does in a loop. */
export function eachWhole(list: Expr): NonNullable<SetStep["each"]> {
  const isList: Expr = {
    op: "compare",
    by: ">=",
    left: call("itemCount", list),
    right: literal(0),
  };
  const whole = toObject([["true", { op: "list", items: [list] }]]);
  const at = call("toString", isList);
  return { list: { op: "index", of: whole, at }, maxConcurrent: 1 };
}

/** The list, in a step that fans out over the whole of it. */
export function wholeOf(step: string): Expr {
  return { op: "path", root: "item", name: step, path: [] };
}
