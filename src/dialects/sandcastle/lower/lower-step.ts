import type { Expr, TextPart } from "../../../core/expressions/expr.ts";
import type { Each, Step, Wait } from "../../../core/graph/graph.ts";
import { literal, outputOf } from "../../build-expr.ts";
import { findItemUse, usesItem } from "../items.ts";
import type { AgentBody, ApprovalBody, StepDefinition, WaitBody } from "../parse-step.ts";
import { slotsOf, type Template } from "../references/template.ts";
import { type LowerContext, lowerCall, lowerCommon } from "./lower-common.ts";
import { type ExprScope, joinParts, lowerParts, lowerReference, lowerTemplate, lowerValue } from "./lower-expr.ts";
import { lowerSubWorkflow } from "./lower-sub-workflow.ts";

export function lowerStep(step: StepDefinition, context: LowerContext): Step {
  const { body } = step;
  const domain = context.domainOf.get(step.id);
  const scope = {
    declared: context.declared,
    perItem: step.fanOut !== undefined || domain !== undefined,
    itemFields: domain === undefined ? undefined : context.fieldsOf.get(domain),
  };
  const common = lowerCommon(step, scope, context);
  const each = lowerEach(step, scope);
  const attempts = {
    retry: step.retry,
    timeoutMs: step.timeoutMs,
    ...(step.atMostOnce ? { atMostOnce: step.atMostOnce } : {}),
  };
  switch (body.type) {
    case "agent":
    case "work": {
      const isAgent = body.type === "agent";
      const executor = isAgent ? "agent" : body.executor;
      const input = isAgent ? lowerAgent(step, body, scope, context) : lowerValue(body.input, scope);
      return { ...common, ...each, ...attempts, kind: "task", executor, input, policies: step.policies };
    }
    case "approval":
      return { ...common, ...each, ...lowerApproval(body, scope) };
    case "wait":
      return { ...common, ...each, kind: "wait", wait: lowerWait(body.wait, scope) };
    case "subWorkflow":
      return lowerSubWorkflow(step, body, { common, doing: { ...each, ...attempts }, scope });
  }
}

/** The list itself is read from outside, where there is no item yet. */
function lowerEach({ fanOut }: StepDefinition, { declared }: ExprScope): { readonly each?: Each } {
  if (fanOut === undefined) return {};
  const list = lowerReference(fanOut.list.reference, { declared, perItem: false });
  return { each: { list, maxConcurrent: fanOut.maxConcurrent } };
}

function lowerAgent(step: StepDefinition, body: AgentBody, scope: ExprScope, context: LowerContext): Expr {
  const { call, appendsContext } = body;
  const added = appendsContext ? missingContext(step, call.prompt, context) : [];
  return lowerCall(call, joinParts([...lowerParts(call.prompt, scope), ...added]));
}

function lowerApproval(body: ApprovalBody, scope: ExprScope) {
  return {
    kind: "approve",
    message: lowerTemplate(body.message, scope),
    ...(body.show === undefined ? {} : { show: lowerReference(body.show.reference, scope) }),
    ...(body.allowEdit ? { allowEdit: true } : {}),
    ...body.rules,
    ...(body.timeoutMs === undefined ? {} : { approvalTimeoutMs: body.timeoutMs, onApprovalTimeout: body.onTimeout }),
  } as const;
}

function lowerWait(wait: WaitBody, scope: ExprScope): Wait {
  switch (wait.for) {
    case "duration":
      return { for: "duration", durationMs: literal(wait.durationMs) };
    case "instant":
      return { for: "instant", at: lowerTemplate(wait.at, scope) };
    case "event": {
      const timeout = wait.timeoutMs === undefined ? {} : { timeoutMs: wait.timeoutMs };
      const name = lowerTemplate(wait.name, scope);
      if (wait.match === undefined) return { for: "event", name, ...timeout };
      const match = [...wait.match].map(([field, value]) => [field, lowerValue(value, scope)] as const);
      return { for: "event", name, match: Object.fromEntries(match), ...timeout };
    }
  }
}

/**
 * The text that is added to a prompt: the outputs of direct dependencies that it does not mention. Many real files rely on it.
 * A pause has nothing to tell and is left out; an output of null is shown as `null`. The list of a fan-out whose items are read counts
 * as mentioned: each item would be sent all of it.
 */
function missingContext(
  step: StepDefinition,
  prompt: Template,
  { workflow: { steps }, declared }: LowerContext,
): readonly TextPart[] {
  const references = slotsOf(prompt).map(({ reference }) => reference);
  if (step.fanOut !== undefined && usesItem(findItemUse(step, declared))) references.push(step.fanOut.list.reference);
  const mentioned = new Set(references.map((reference) => (reference.to === "step" ? reference.step : undefined)));
  const silent = new Set(steps.filter(isPause).map(({ id }) => id));
  const missing = new Set(step.dependsOn.map(({ id }) => id).filter((id) => !mentioned.has(id) && !silent.has(id)));
  if (missing.size === 0) return [];
  const blocks = [...missing].flatMap((id): TextPart[] => [`\n[${id}]: `, { value: outputOf(id), written: "null" }]);
  return ["\n\nContext from previous steps:", ...blocks];
}

function isPause({ body }: StepDefinition): boolean {
  return body.type === "wait" && body.wait.for !== "event";
}
