import type { Expr } from "../../../core/expressions/expr.ts";
import type { DagFlow, MachineFlow, SetStep, Step, Transition } from "../../../core/graph/graph.ts";
import { stepsWithin } from "../../../core/graph/steps-within.ts";
import { call, isEqualTo, literal, outputOf, toObject, variable } from "../../build-expr.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import type { ExpressionScope } from "../expressions/expression-fault.ts";
import { type ControlOf, type StepDefinition, subtypeOf } from "../shape/step-shape.ts";
import { type PlanBlock, type PlannedBlock, toStep } from "./flow-plan.ts";
import { attemptsOf, type Doing, freeId, type LowerContext, UNREADABLE } from "./lower-context.ts";
import { toDecidable } from "./lower-transitions.ts";
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
  const left = breakOf(step);
  const item: Step = {
    ...lowerItem(planned, { id, variables, scope, isConcurrent: body.maxConcurrency > 1 }),
    ...(after.length === 0 ? {} : { after }),
    each: { list, maxConcurrent: body.maxConcurrency },
    ...failureRule(body),
  };
  const hasBreak = stepsWithin({ kind: "dag", steps: [item] }).some(({ assign }) => assign?.[left] !== undefined);
  const isLeft: Expr = isEqualTo(variable(left), literal(true));
  const items: Step = hasBreak ? { ...item, when: { op: "not", of: isLeft } } : item;
  const tolerance = body.toleratedFailures === undefined ? {} : { tolerates: body.toleratedFailures };
  const flow: DagFlow = { kind: "dag", steps: [...before, items], result: id, ...tolerance };
  if (!hasBreak) return { ...attemptsOf(body), kind: "flow", flow };
  const all = freeId("items", scope.context);
  const steps: readonly Step[] = [{ kind: "flow", id: all, flow }];
  return {
    ...attemptsOf(body),
    kind: "flow",
    flow: { kind: "machine", start: all, variables: { [left]: false }, steps },
  };
}

/** The condition is asked where it can change: before the first round, and after each. */
export function lowerWhile(
  step: StepDefinition,
  body: ControlOf<"while">,
  scope: ValueScope,
  planBlock: PlanBlock,
): Doing {
  const planned = body.body && planBlock(body.body, step, scope.flow);
  if (planned === undefined || body.condition === undefined) return UNREADABLE;
  const computed = new Map<string, Expr>();
  const condition = lowerValue(body.condition, { ...scope, allowsOutput: true });
  const holds = toDecidable(condition, computed, scope.context);
  const left = breakOf(step);
  const id = freeId("round", scope.context);
  const asking = {
    ...(computed.size === 0 ? {} : { assign: Object.fromEntries(computed) }),
    transitions: [
      { on: "success", when: isEqualTo(variable(left), literal(true)), to: { end: "success" } },
      { on: "success", when: holds, written: String(body.condition.value), to: id },
      { on: "success", to: { end: "success" } },
    ] satisfies readonly Transition[],
  };
  const first = freeId("first", scope.context);
  const flow: MachineFlow = {
    kind: "machine",
    start: first,
    maxVisits: body.maxIterations + 1,
    tooManyVisits: `The condition of "${step.id}" still holds after ${body.maxIterations} rounds (maxIterations).`,
    variables: { [left]: false },
    steps: [
      { kind: "set", id: first, ...asking },
      { kind: "flow", id, flow: planned.lower({}), ...asking },
    ],
  };
  return { ...attemptsOf(body), kind: "flow", flow };
}

/** `break` and `continue`, which end the body that they stand in. */
export function lowerLeaving(
  step: StepDefinition,
  subtype: "break" | "continue",
  { flow, context }: ValueScope,
): Doing {
  const around = flow.owners.at(-1);
  const of = subtypeOf(around?.body);
  if (around === undefined || (of !== "while" && of !== "loop")) {
    const message = `\`${subtype}\` stands in no body of a \`while\` or a \`loop\`, but in a block of its own or in none.`;
    const remedy = "Lead to it from the block: a transition to a step of the body.";
    context.problems.error({ code: "NOT_SUPPORTED", at: step.at, message, remedy });
  } else if (
    subtype === "break" &&
    around.body !== undefined &&
    "iteratorVar" in around.body &&
    around.body.maxConcurrency > 1
  ) {
    const message = "Items that run side by side cannot be left.";
    context.problems.error({ code: "NOT_SUPPORTED", at: step.at, message, remedy: "Set `maxConcurrency: 1`." });
  }
  return { kind: "set", ...(subtype === "break" && around ? { assign: { [breakOf(around)]: literal(true) } } : {}) };
}

function breakOf({ id }: StepDefinition): string {
  return `break ${id}`;
}

export function lowerParallel(
  step: StepDefinition,
  body: ControlOf<"parallel">,
  scope: ValueScope,
  planBlock: PlanBlock,
): Doing {
  const { context, flow } = scope;
  const { until, maxConcurrency = Number.POSITIVE_INFINITY } = body;
  const rule: Pick<Step, "onFailure"> = until === "firstSuccess" ? { onFailure: "continue" } : failureRule(body);
  const steps = (body.branches ?? []).flatMap(({ name, at, block }): readonly Step[] => {
    const planned = planBlock(block, step, flow);
    if (planned === undefined) return [];
    if (flow.visible.has(name)) {
      const message = `The branch \`${name}\` has the name of a step that it can read.`;
      context.problems.error({ code: "STEP_DUPLICATE", at, message, remedy: "Rename one of the two." });
    }
    return [{ ...toStep(planned.lower({}), name), ...rule }];
  });
  refuseBoth(body, scope);
  const ends = endsOf(body, steps.length);
  if (maxConcurrency >= steps.length)
    return { ...attemptsOf(body), kind: "flow", flow: { kind: "dag", steps, ...ends } };
  return {
    ...attemptsOf(body),
    kind: "flow",
    flow: inWindow(steps, { maxConcurrency, ends, rule, isAll: until === "all" }, context),
  };
}

type Ends = Pick<DagFlow, "until" | "tolerates">;

function endsOf({ until, toleratedFailures }: ControlOf<"parallel">, count: number): Ends {
  if (until === "firstSuccess") return { until, tolerates: { failures: count - 1 } };
  if (until === "first") return { until: "firstEnd" };
  return toleratedFailures === undefined ? {} : { tolerates: toNumber(toleratedFailures, count) };
}

function toNumber(tolerated: NonNullable<ControlOf<"parallel">["toleratedFailures"]>, count: number) {
  return "share" in tolerated ? { failures: Math.floor(tolerated.share * count) } : tolerated;
}

function refuseBoth(
  { until, toleratedFailures, continueOnError, at }: ControlOf<"parallel">,
  { context }: ValueScope,
): void {
  if (until === "all" || (toleratedFailures === undefined && !continueOnError)) return;
  const message = `\`until: ${until}\` says itself what failures mean.`;
  const remedy = "Remove `toleratedFailures` and `continueOnError`, or `until`.";
  context.problems.error({ code: "VALUE_INVALID", at: at.entries.get("until")?.key ?? at, message, remedy });
}

interface Window {
  readonly maxConcurrency: number;
  readonly ends: Ends;
  readonly rule: Pick<Step, "onFailure">;
  readonly isAll: boolean;
}

/** Blocks as the items of a fan-out, each of which does one of them. */
function inWindow(
  steps: readonly Step[],
  { maxConcurrency, ends, rule, isAll }: Window,
  context: LowerContext,
): DagFlow {
  const id = freeId("branches", context);
  const made = freeId("made", context);
  const item: Expr = { op: "path", root: "item", name: id, path: [] };
  const bare = steps.map(
    ({ onFailure: _, ...step }, index) => ({ ...step, when: isEqualTo(item, literal(index)) }) as Step,
  );
  const outputs = steps.map((step) => call("coalesce", outputOf(step.id)));
  const value: Expr = { op: "first", of: [...outputs, literal(null)] };
  const one: DagFlow = {
    kind: "dag",
    steps: [...bare, { kind: "set", id: made, after: steps.map((step) => step.id), value }],
    result: made,
  };
  const each = { list: literal(steps.map((_, index) => index)), maxConcurrent: maxConcurrency };
  const all: DagFlow = { kind: "dag", steps: [{ kind: "flow", id, flow: one, each, ...rule }], result: id, ...ends };
  if (!isAll) return all;
  const list = freeId("all", context);
  const named = freeId("result", context);
  const result = toObject(steps.map((step, index) => [step.id, outputOf(list, index)]));
  return {
    kind: "dag",
    steps: [
      { kind: "flow", id: list, flow: all },
      { kind: "set", id: named, after: [list], value: result },
    ],
    result: named,
  };
}

export type LoopVariables = readonly (readonly [string, { readonly root: "item" | "index"; readonly name: string }])[];

/** The body as the step that fans out, in which the loop's variables have a meaning. */
export function lowerItem(
  planned: PlannedBlock,
  {
    id,
    variables,
    scope,
    isConcurrent,
  }: {
    readonly id: string;
    readonly variables: LoopVariables;
    readonly scope: ValueScope;
    readonly isConcurrent: boolean;
  },
): Step {
  const { locals, fanOuts } = scope.flow;
  const named: ExpressionScope["locals"] = new Map([...locals, ...variables]);
  return toStep(
    planned.lower({ locals: named, fanOuts: new Set([...fanOuts, id]), ...(isConcurrent ? { isConcurrent } : {}) }),
    id,
  );
}

/** That of the only step of the body, unless a fan-out around has it already: variables are found by it. */
export function fanOutId({ onlyId }: PlannedBlock, wanted: string, { flow, context }: ValueScope): string {
  if (onlyId !== undefined && !flow.fanOuts.has(onlyId)) return onlyId;
  return freeId(wanted, context, flow.fanOuts);
}

export function failureRule(body: {
  readonly continueOnError: boolean;
  readonly toleratedFailures?: unknown;
}): Pick<Step, "onFailure"> {
  return body.continueOnError || body.toleratedFailures !== undefined ? { onFailure: "continue" } : {};
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
