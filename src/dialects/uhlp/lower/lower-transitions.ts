import { writeExact } from "../../../core/exact-json.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Transition } from "../../../core/graph/graph.ts";
import { isEqualTo, literal, output } from "../../build-expr.ts";
import type { ProblemList } from "../../problem-list.ts";
import { conditionOf, endsFlow, type StepDefinition, subtypeOf } from "../shape/step-shape.ts";
import type { TransitionDefinition } from "../shape/transition-shape.ts";
import { type FlowPlan, findTarget, type Target } from "./flow-plan.ts";
import type { FlowScope, LowerContext } from "./lower-context.ts";
import { isDecidable, lowerValue } from "./lower-value.ts";

export interface LoweredTransitions {
  readonly transitions?: readonly Transition[];
  /** Conditions that the host computes when the step has ended. */
  readonly assign?: { readonly [name: string]: Expr };
}

/** The transitions of a step, and what must be computed for them. */
export function lowerTransitions(
  step: StepDefinition,
  plan: FlowPlan,
  scope: FlowScope,
  context: LowerContext,
): LoweredTransitions {
  const conditions = lowerConditions(step, scope, context);
  const computed = new Map<string, Expr>();
  const transitions = step.transitions.flatMap((definition, index) => {
    const target = findTarget(definition.to, plan, context);
    const when = toDecidable(conditions[index], computed, context);
    return target === undefined ? [] : toTransitions(definition, { target, when, plan, context });
  });
  const isBlock = plan.owners.length > 0;
  if (subtypeOf(step.body) === "formatResponse" && conditionOf(step.body) !== undefined)
    transitions.unshift({
      on: "success",
      when: { op: "not", of: isEqualTo(output(), literal(null)) },
      to: { end: "success" },
    });
  const isOpen = !step.transitions.some(({ on }) => on !== "failure");
  if (!isBlock && isOpen) reportNoEnd(step, context);
  // In a block a step that says nothing about its success ends it.
  const end: readonly Transition[] =
    isBlock && isOpen && transitions.length > 0 ? [{ on: "success", to: { end: "success" } }] : [];
  const all = [...transitions, ...end];
  return {
    ...(all.length === 0 ? {} : { transitions: all }),
    ...(computed.size === 0 ? {} : { assign: Object.fromEntries(computed) }),
  };
}

/** The condition of each transition, where it has one. */
function lowerConditions(step: StepDefinition, scope: FlowScope, context: LowerContext): readonly (Expr | undefined)[] {
  const { problems } = context;
  const errorsBefore = problems.errorCount;
  const allowsOutput = subtypeOf(step.body) !== "branch";
  const conditions = step.transitions.map(
    ({ condition }) => condition && lowerValue(condition, { flow: scope, context, allowsOutput }),
  );
  // A condition that cannot be read may mean anything: no conclusions are drawn from it.
  if (step.isFaulty || problems.errorCount > errorsBefore) return conditions;
  reportIdle(step.transitions, problems);
  reportGap(step, conditions, problems);
  return conditions;
}

export function toDecidable(
  when: Expr | undefined,
  computed: Map<string, Expr>,
  context: LowerContext,
): Expr | undefined {
  if (when === undefined || isDecidable(when)) return when;
  context.conditionCount += 1;
  const name = `condition ${context.conditionCount}`;
  // It is set to true or false, so that every visit sets it anew.
  computed.set(name, { op: "and", of: [when] });
  return { op: "path", root: "vars", name, path: [] };
}

function toTransitions(
  { on, condition, at }: TransitionDefinition,
  {
    target,
    when,
    plan,
    context,
  }: {
    readonly target: Target;
    readonly when: Expr | undefined;
    readonly plan: FlowPlan;
    readonly context: LowerContext;
  },
): readonly Transition[] {
  const common = {
    when,
    ...(condition === undefined ? {} : { written: String(condition.value) }),
    place: context.problems.source.position(at),
  };
  const ended = plan.owners.length === 0 ? context.outputId : undefined;
  if ("step" in target) return [{ on, ...common, to: target.step }];
  if (target.end === "success") return [{ on, ...common, to: { end: "success" } }];
  const outcomes = on === "any" ? (["success", "failure"] as const) : [on];
  return outcomes.map((outcome) => ({
    on: outcome,
    ...common,
    to: outcome === "success" && ended !== undefined ? ended : { end: outcome },
  }));
}

/** Reports transitions behind one that always holds, and those that say the same again. */
function reportIdle(transitions: readonly TransitionDefinition[], problems: ProblemList): void {
  const closed = new Set<"success" | "failure">();
  const seen = new Set<string>();
  for (const { on, condition, at } of transitions) {
    const outcomes = on === "any" ? (["success", "failure"] as const) : [on];
    const key = `${on} ${String(condition?.value)}`;
    if (outcomes.every((outcome) => closed.has(outcome)) || seen.has(key)) {
      const message = "This transition is never taken: one before it always comes first.";
      problems.warning({ code: "TRANSITION_IDLE", at, message });
    }
    seen.add(key);
    if (condition === undefined) for (const outcome of outcomes) closed.add(outcome);
  }
}

function reportNoEnd({ id, at, body, isFaulty }: StepDefinition, { problems }: LowerContext): void {
  if (isFaulty || body === undefined || endsFlow(body)) return;
  const message = `\`${id}\` says neither what follows when it succeeds nor that the workflow ends there.`;
  problems.error({ code: "KEY_MISSING", at, message, remedy: "Add `end: true`, or a transition to the next step." });
}

/** Warns of a step that has succeeded and may have nowhere to go. `conditions`: those of its transitions. */
function reportGap(
  { id, at, body, map, transitions }: StepDefinition,
  conditions: readonly (Expr | undefined)[],
  problems: ProblemList,
): void {
  const afterSuccess = conditions.filter((_, index) => transitions[index]?.on !== "failure");
  // A step that says nothing at all about its success is another mistake, or ends a block.
  if (afterSuccess.length === 0 || oneAlwaysHolds(afterSuccess)) return;
  const message = `\`${id}\` fails with \`NO_TRANSITION\` where none of its conditions holds.`;
  const isList = map.entries.get("transitions")?.value.kind === "list";
  const byOutcome = isList ? "Add an entry without a condition." : "Add `onSuccess`.";
  const remedy = subtypeOf(body) === "branch" ? "Add `default`." : byOutcome;
  problems.warning({ code: "NO_TRANSITION", at, message, remedy });
}

/** Only where it is plain to see: no condition, `true`, or a condition beside its opposite. */
function oneAlwaysHolds(conditions: readonly (Expr | undefined)[]): boolean {
  const seen = new Set<string>();
  for (const condition of conditions) {
    if (condition === undefined || (condition.op === "literal" && condition.value === true)) return true;
    if (oppositesOf(condition).some((opposite) => seen.has(writeExact(opposite)))) return true;
    seen.add(writeExact(condition));
  }
  return false;
}

/** Not those of `<` and the like: of what cannot be compared neither holds. */
function oppositesOf(condition: Expr): readonly Expr[] {
  const negated: Expr = { op: "not", of: condition };
  if (condition.op === "not") return [negated, condition.of];
  if (condition.op !== "compare" || (condition.by !== "==" && condition.by !== "!=")) return [negated];
  return [negated, { ...condition, by: condition.by === "==" ? "!=" : "==" }];
}
