import type { MachineFlow, Step } from "../../../core/graph/graph.ts";
import { suggest } from "../../did-you-mean.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type Block, blocksOf, type Level, type StepBody, type StepDefinition } from "../shape/step-shape.ts";
import type { Reference } from "../workflow.ts";
import { type FlowScope, isTooLarge, type LowerContext } from "./lower-context.ts";

/** The steps of one flow: those of a level without what belongs to blocks, or those of a block. */
export interface FlowPlan {
  readonly level: Level;
  readonly start: string;
  readonly members: ReadonlyMap<string, StepDefinition>;
  /** Steps that belong to the blocks of members, and the member. */
  readonly taken: ReadonlyMap<string, StepDefinition>;
  /** The control steps around; a transition to the innermost ends the flow. */
  readonly owners: readonly StepDefinition[];
}

/** The flow of a whole level. Undefined where it has no beginning, which is reported. */
export function planLevel(
  level: Level,
  owners: readonly StepDefinition[],
  context: LowerContext,
): FlowPlan | undefined {
  const plan = toPlan(level, level.steps, { start: level.startAt?.value ?? "", owners, context });
  if (level.startAt === undefined || !checkStart(level.startAt, plan, context)) return undefined;
  reportUnreachable(level.startAt, plan, context);
  return plan;
}

/** The flow of a block: the steps that its first one leads to, or those of a level of its own. */
export function planBlock(
  block: Block,
  level: Level,
  owners: readonly StepDefinition[],
  context: LowerContext,
): FlowPlan | undefined {
  if (block.kind === "written") return planLevel(block.level, owners, context);
  const { start } = block;
  const plan = toPlan(level, reach(level, start, { owners, context }), { start: start.value, owners, context });
  return checkStart(start, plan, context) ? plan : undefined;
}

export type Target =
  | { readonly step: string }
  /** `same`: as the step has ended. Back at the control step around, a block always ends in success. */
  | { readonly end: "same" | "success" };

/** The target of a transition. Undefined: there is none, which is reported. */
export function findTarget(to: Reference | "end", plan: FlowPlan, context: LowerContext): Target | undefined {
  if (to === "end") return { end: "same" };
  const { members, taken, owners } = plan;
  if (members.has(to.value)) return { step: to.value };
  if (owners.at(-1)?.id === to.value) return { end: "success" };
  const shown = toExcerpt(to.value);
  const holder = taken.get(to.value);
  const around = owners.find(({ id }) => id === to.value);
  if (holder !== undefined) {
    const message = `\`${shown}\` runs inside of \`${holder.id}\` and cannot be reached from outside.`;
    const remedy = `Lead to \`${holder.id}\`; inside of it, end with the last step, or lead back to \`${holder.id}\`.`;
    context.problems.error({ code: "STEP_INSIDE", at: to.at, message, remedy });
  } else if (around !== undefined) {
    const message = `\`${shown}\` is two blocks further out.`;
    context.problems.error({ code: "STEP_INSIDE", at: to.at, message, remedy: "End this block first." });
  } else reportUnknown(to, plan, context);
  return undefined;
}

/** The first steps of blocks that are steps of the same level. */
function blockStartsOf(body: StepBody): readonly Reference[] {
  return blocksOf(body).flatMap((block) => (block.kind === "reference" ? [block.start] : []));
}

function toPlan(
  level: Level,
  candidates: ReadonlyMap<string, StepDefinition>,
  { start, owners, context }: Pick<FlowPlan, "start" | "owners"> & { readonly context: LowerContext },
): FlowPlan {
  const taken = new Map<string, StepDefinition>();
  const take = (step: StepDefinition, begin: Reference) => {
    const inside = reach(level, begin, { owners: [...owners, step], context });
    for (const id of inside.keys()) if (!taken.has(id)) taken.set(id, step);
  };
  for (const step of candidates.values()) {
    for (const begin of blockStartsOf(step.body)) take(step, begin);
  }
  if (owners.length === 0 && level.onError?.block.kind === "reference")
    take(level.onError.owner, level.onError.block.start);
  const members = new Map([...candidates].filter(([id]) => !taken.has(id)));
  return { level, start, members, taken, owners };
}

interface Search {
  readonly owners: readonly StepDefinition[];
  readonly context: LowerContext;
}

/** Everything that transitions lead to, the control steps around left out. */
function reach(level: Level, start: Reference, { owners, context }: Search): ReadonlyMap<string, StepDefinition> {
  const found = new Map<string, StepDefinition>();
  const pending = [start.value];
  for (let id = pending.pop(); id !== undefined && !isTooLarge(context, start.at); id = pending.pop()) {
    context.looks += 1;
    const step = level.steps.get(id);
    if (step === undefined || found.has(id) || owners.includes(step)) continue;
    found.set(id, step);
    for (const { to } of step.transitions) if (to !== "end") pending.push(to.value);
  }
  return found;
}

function checkStart(start: Reference, plan: FlowPlan, context: LowerContext): boolean {
  if (plan.members.has(start.value)) return true;
  // That there is no step at all has been reported with the structure.
  if (plan.level.steps.size === 0) return false;
  const holder = plan.taken.get(start.value) ?? plan.owners.find(({ id }) => id === start.value);
  if (holder === undefined) {
    reportUnknown(start, plan, context);
    return false;
  }
  const message = `\`${toExcerpt(start.value)}\` cannot be the beginning: it ${
    plan.taken.has(start.value) ? `runs inside of \`${holder.id}\`` : "is the step around"
  }.`;
  context.problems.error({ code: "STEP_INSIDE", at: start.at, message, remedy: "Begin with another step." });
  return false;
}

function reportUnknown({ value, at }: Reference, { members, level }: FlowPlan, { problems }: LowerContext): void {
  const ids = members.size === 0 ? level.steps.keys() : members.keys();
  const message = `There is no step \`${toExcerpt(value)}\` on this level.`;
  const remedy = value.toLowerCase() === "end" ? "Write `end: true`." : suggest(value, ids);
  problems.error({ code: "STEP_UNKNOWN", at, message, remedy });
}

function reportUnreachable(start: Reference, { level, members, owners }: FlowPlan, context: LowerContext): void {
  // Whatever leads to it may be what cannot be read, or is misspelt.
  if ([...level.steps.values()].some((step) => step.isFaulty || namesUnknown(step, level, owners))) return;
  const reached = reach(level, start, { owners, context });
  for (const { id, at } of members.values()) {
    if (reached.has(id)) continue;
    const message = `No transition leads to \`${toExcerpt(id)}\`.`;
    context.problems.warning({ code: "STEP_UNREACHABLE", at, message });
  }
}

function namesUnknown(
  { transitions, body }: StepDefinition,
  { steps }: Level,
  owners: readonly StepDefinition[],
): boolean {
  const named = [...transitions.flatMap(({ to }) => (to === "end" ? [] : [to])), ...blockStartsOf(body)];
  return named.some(({ value }) => !steps.has(value) && !owners.some(({ id }) => id === value));
}

/** A block before it is lowered: what runs in it has to know what it can name, which may depend on what runs in it. */
export interface PlannedBlock {
  /** The id of its step where it has only one. */
  readonly onlyId: string | undefined;
  readonly ids: readonly string[];
  lower(inner: Partial<Omit<FlowScope, "level" | "owners">>): MachineFlow;
}

/** Undefined: the block has no beginning, which has been reported. */
export type PlanBlock = (block: Block, owner: StepDefinition, scope: FlowScope) => PlannedBlock | undefined;

/** A block as one step of this id: its only step itself where that has the id and leads nowhere, so that paths stay short. */
export function toStep(flow: MachineFlow, id: string): Step {
  const [only, ...others] = flow.steps;
  if (only === undefined || others.length > 0 || only.id !== id || !isPlain(only)) return { kind: "flow", id, flow };
  const { transitions: _, ...step } = only;
  return step;
}

function isPlain({ assign, transitions = [] }: Step): boolean {
  return (
    assign === undefined &&
    transitions.every(({ on, when, to }) => on === "success" && when === undefined && typeof to !== "string")
  );
}
