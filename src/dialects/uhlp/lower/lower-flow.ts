import type { Expr } from "../../../core/expressions/expr.ts";
import { mapChildren, walkPaths } from "../../../core/expressions/walk-paths.ts";
import type { Concurrency, MachineFlow, Rate, Step } from "../../../core/graph/graph.ts";
import { output as outputAt } from "../../build-expr.ts";
import { reportBoth, reportKey, toDebounce } from "../../places.ts";
import { type Level, type StepDefinition, subtypeOf } from "../shape/step-shape.ts";
import type { ReadWorkflow } from "../shape/workflow-shape.ts";
import { type FlowPlan, type PlanBlock, planBlock, planLevel } from "./flow-plan.ts";
import { type FlowScope, freeId, isTooLarge, type LowerContext } from "./lower-context.ts";
import { toSet } from "./lower-control.ts";
import { lowerStep } from "./lower-step.ts";
import { lowerTransitions } from "./lower-transitions.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";
import { lowerUndo, withCare } from "./lower-whole.ts";

/** The flow of the whole workflow. Undefined where it has no beginning, which is reported. */
export function lowerFlow(level: Level, top: Top, context: LowerContext): MachineFlow | undefined {
  const plan = planLevel(level, [], context);
  const scope = outermost(level);
  if (plan === undefined) return undefined;
  const flow = lowerPlan(plan, scope, context);
  const inside: FlowScope = { ...scope, visible: new Set(plan.members.keys()) };
  const { owner, block } = level.onError ?? {};
  const onError =
    block && owner && blockPlanner(context)(block, owner, inside)?.lower({ allowsError: true, isUndo: true });
  const whole = withOutput(withVariables(flow, top, { flow: scope, context }), top, { flow: inside, context });
  return withCare(whole, onError, context);
}

function outermost(level: Level): FlowScope {
  return {
    level,
    visible: new Set(),
    locals: new Map(),
    allowsError: false,
    owners: [],
    fanOuts: new Set(),
  };
}

export function lowerConcurrency(
  { concurrency, debounce }: ReadWorkflow,
  level: Level,
  context: LowerContext,
): Concurrency | undefined {
  if (debounce !== undefined && concurrency !== undefined) reportBoth(debounce.at, context.problems);
  if (debounce !== undefined)
    return { ...toDebounce(debounce.wait), ...lowerShared("debounce", debounce, { level, context }) };
  if (concurrency === undefined) return undefined;
  const { limit, whenFull } = concurrency;
  return { limit, whenFull, ...lowerShared("concurrency", concurrency, { level, context }) };
}

export function lowerRate({ rate }: ReadWorkflow, level: Level, context: LowerContext): Rate | undefined {
  if (rate === undefined) return undefined;
  const { limit = 1, per: perMs = 1, whenFull } = rate;
  return { limit, perMs, whenFull, ...lowerShared("rate", rate, { level, context }) };
}

function lowerShared(
  of: "concurrency" | "rate" | "debounce",
  { key: written, scope }: Pick<NonNullable<ReadWorkflow["rate"]>, "key" | "scope">,
  { level, context }: { readonly level: Level; readonly context: LowerContext },
): Pick<Concurrency, "key" | "keyWritten" | "scope"> {
  const key = written && lowerValue(written, { flow: outermost(level), context });
  let readsOther = false;
  if (key !== undefined)
    walkPaths(key, ({ root }) => {
      readsOther ||= root !== "input" && root !== "local";
    });
  if (written !== undefined && readsOther) reportKey(of, written, context.problems);
  const keyWritten = written?.kind === "scalar" ? { keyWritten: String(written.value) } : {};
  return { ...(key && { key, ...keyWritten }), ...(scope && { scope: scope.value }) };
}

/** The keys of a workflow that are about its run as a whole. */
type Top = Pick<ReadWorkflow, "variables" | "output">;

/** First values that must be computed are set by a step before all others. */
function withVariables(flow: MachineFlow, { variables: given }: Top, scope: ValueScope): MachineFlow {
  const { runVariables } = scope.context;
  if (runVariables.size === 0) return flow;
  const first = Object.fromEntries(
    [...(given?.entries ?? [])].map(([name, { value }]) => [name, lowerValue(value, scope)]),
  );
  const known = Object.entries(first).flatMap(([name, { ...value }]) =>
    value.op === "literal" ? [[name, value.value] as const] : [],
  );
  const variables = {
    ...Object.fromEntries([...runVariables].map((name) => [name, null])),
    ...Object.fromEntries(known),
  };
  if (known.length === Object.keys(first).length) return { ...flow, variables };
  const id = freeId("variables", scope.context);
  const step: Step = { id, ...toSet(first), transitions: [{ on: "success", to: flow.start }] };
  return { ...flow, ...oneMore(flow), variables, start: id, steps: [step, ...flow.steps] };
}

/** Transitions that end the workflow well lead to this step. */
function withOutput(flow: MachineFlow, { output }: Top, scope: ValueScope): MachineFlow {
  const { outputId: id } = scope.context;
  if (output === undefined || id === undefined) return flow;
  const step: Step = { id, kind: "respond", value: lowerValue(output, { ...scope, takesPlainText: true }) };
  return { ...flow, ...oneMore(flow), steps: [...flow.steps, step] };
}

function oneMore({ maxVisits }: MachineFlow): Pick<MachineFlow, "maxVisits"> {
  return maxVisits === undefined ? {} : { maxVisits: maxVisits + 1 };
}

/** `around`: what the control step around sees. */
function lowerPlan(plan: FlowPlan, around: FlowScope, context: LowerContext): MachineFlow {
  const { level, owners, members, start } = plan;
  const scope: FlowScope = { ...around, level, owners, visible: new Set([...around.visible, ...members.keys()]) };
  reportLongWay(plan, context);
  const steps = [...members.values()].flatMap((step) => lowerMember(step, plan, scope, context) ?? []);
  return { kind: "machine", start, maxVisits: context.maxSteps, steps };
}

function lowerMember(step: StepDefinition, plan: FlowPlan, scope: FlowScope, context: LowerContext): Step | undefined {
  context.stepCount += 1;
  if (isTooLarge(context, step.at)) return undefined;
  const lowered = lowerStep(step, { flow: scope, context }, blockPlanner(context));
  const planBlock = blockPlanner(context);
  const undo = lowerUndo(step, { flow: scope, context }, planBlock);
  const { assign, ...leading } = lowerTransitions(step, plan, scope, context);
  const isSet = (name: string | undefined) => name !== undefined && lowered.assign?.[name] !== undefined;
  // The variables of a step are set together: what is computed for its transitions reads them from its output.
  const atStep = (expr: Expr): Expr =>
    expr.op === "path" && expr.root === "vars" && isSet(expr.name)
      ? { ...expr, ...outputAt(expr.name ?? "", ...expr.path) }
      : mapChildren(expr, atStep);
  const computed = Object.entries(assign ?? {}).map(([name, expr]) => [name, atStep(expr)] as const);
  const assigned = { ...lowered.assign, ...undo, ...Object.fromEntries(computed) };
  return { ...lowered, ...leading, ...(Object.keys(assigned).length === 0 ? {} : { assign: assigned }) };
}

function blockPlanner(context: LowerContext): PlanBlock {
  return (block, owner, scope) => {
    if (isTooLarge(context, owner.at) || isTooDeep(owner, scope, context)) return undefined;
    const plan = planBlock(block, scope.level, [...scope.owners, owner], context);
    if (plan === undefined) return undefined;
    const ids = [...plan.members.keys()];
    const [only, ...others] = ids;
    return {
      ids,
      onlyId: others.length === 0 ? only : undefined,
      lower: (inner) => lowerPlan(plan, { ...scope, ...inner }, context),
    };
  };
}

/** The core nests flows 50 deep, and a block takes up to three of them. */
const MAX_DEPTH = 16;

function isTooDeep({ at }: StepDefinition, { owners }: FlowScope, { problems }: LowerContext): boolean {
  if (owners.length < MAX_DEPTH) return false;
  const message = `Blocks are nested more than ${MAX_DEPTH} deep.`;
  problems.error({ code: "NOT_SUPPORTED", at, message, remedy: "Call another workflow with `subworkflow`." });
  return true;
}

/** Warns of a flow in which no run that goes well can come to an end within `maxSteps`. */
function reportLongWay(plan: FlowPlan, { maxSteps, problems }: LowerContext): void {
  const start = plan.members.get(plan.start);
  // A step that cannot be read may lead anywhere. A `maxSteps` below 1 has been reported.
  if (start === undefined || maxSteps < 1 || [...plan.members.values()].some(({ isFaulty }) => isFaulty)) return;
  const count = countSteps(start, plan);
  if (count === undefined || count <= maxSteps) return;
  const message = `Where no step fails, it takes at least ${count} steps from \`${start.id}\` to an end; \`maxSteps\` is ${maxSteps}.`;
  const remedy = `Set \`maxSteps\` of the workflow to ${count} or more.`;
  problems.warning({ code: "MAX_VISITS", at: start.at, message, remedy });
}

/** On the shortest way on which no step fails. Undefined: there is none. */
function countSteps(start: StepDefinition, plan: FlowPlan): number | undefined {
  const seen = new Set([start]);
  let visited: readonly StepDefinition[] = [start];
  for (let count = 1; visited.length > 0; count += 1) {
    if (visited.some((step) => canEnd(step, plan))) return count;
    const next = visited.flatMap((step) => nextOf(step, plan)).filter((step) => !seen.has(step));
    for (const step of next) seen.add(step);
    visited = [...new Set(next)];
  }
  return undefined;
}

/** In a block: back at the step around, or without a word about its success. What leads nowhere has been reported. */
function canEnd(step: StepDefinition, { members, owners }: FlowPlan): boolean {
  const ways = waysOf(step);
  if (subtypeOf(step.body) === "formatResponse" || (ways.length === 0 && owners.length > 0)) return true;
  return ways.some(({ to }) => to === "end" || !members.has(to.value));
}

function nextOf(step: StepDefinition, { members }: FlowPlan): readonly StepDefinition[] {
  return waysOf(step).flatMap(({ to }) => (to === "end" ? [] : (members.get(to.value) ?? [])));
}

function waysOf({ transitions }: StepDefinition) {
  return transitions.filter(({ on }) => on !== "failure");
}
