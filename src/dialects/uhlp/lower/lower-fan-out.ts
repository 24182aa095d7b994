import type { DagFlow, Step } from "../../../core/graph/graph.ts";
import type { ExpressionScope } from "../expressions/expression-fault.ts";
import type { ControlOf, StepDefinition } from "../shape/step-shape.ts";
import { attemptsOf, type Doing, UNREADABLE } from "./doing.ts";
import { type PlanBlock, type PlannedBlock, toStep } from "./flow-plan.ts";
import { freeId } from "./lower-context.ts";
import { lowerCheckedList, lowerList } from "./lower-list.ts";
import type { ValueScope } from "./lower-value.ts";

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
