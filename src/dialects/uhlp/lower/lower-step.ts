import type { Expr } from "../../../core/expressions/expr.ts";
import { mapChildren } from "../../../core/expressions/walk-paths.ts";
import type { Step } from "../../../core/graph/graph.ts";
import { isJsonObject } from "../../../core/json.ts";
import { isEqualTo, literal, outputOf } from "../../build-expr.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import { conditionOf, type StepDefinition } from "../shape/step-shape.ts";
import type { PlanBlock } from "./flow-plan.ts";
import { type Doing, freeId, UNREADABLE } from "./lower-context.ts";
import { lowerControl } from "./lower-control.ts";
import { isDecidable, lowerValue, type ValueScope } from "./lower-value.ts";
import { lowerRequest, lowerWork } from "./lower-work.ts";

/** A step without where it leads. */
export function lowerStep(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Step {
  const { id, at, body } = step;
  const place = scope.context.problems.source.position(at);
  // What is around it is another step.
  const done = { ...repeatIf(step, lowerDoing(step, scope, planBlock), scope), place, says: saysOf(step) };
  const output = body !== undefined && "outputMapping" in body ? body.outputMapping : undefined;
  return {
    id,
    description: body?.description?.value || undefined,
    place,
    ...underCondition(step, output === undefined ? done : shapeOutput(id, { output, done }, scope), scope),
  };
}

function saysOf({ body }: StepDefinition): string | undefined {
  if (body === undefined || !("subtype" in body)) return undefined;
  switch (body.subtype) {
    case "loop":
    case "split": {
      const limit = body.maxConcurrency > 1 ? `, at most ${body.maxConcurrency} at a time` : "";
      return `${body.subtype} ${body.subtype === "loop" ? "over" : "of"} ${shown(body.list)}${limit}`;
    }
    case "while":
      return `while ${shown(body.condition)}, at most ${body.maxIterations} rounds`;
    default:
      return body.subtype;
  }
}

function shown(node: YamlNode | undefined): string {
  return node?.kind === "scalar" ? toExcerpt(String(node.value)) : "a list";
}

/** The condition of a `retryPolicy`. Only failures of work have details that are known in time. */
function repeatIf({ body }: StepDefinition, done: Doing, scope: ValueScope): Doing {
  const condition = body !== undefined && "retryPolicy" in body ? body.retryPolicy?.condition : undefined;
  if (condition === undefined) return done;
  if (done.kind !== "task" || done.retry === undefined) {
    const message = "Only steps that do work are repeated by a condition.";
    const remedy = "Write `onCodes`, or give the policy to the step inside.";
    scope.context.problems.error({ code: "NOT_SUPPORTED", at: condition, message, remedy });
    return done;
  }
  const flow = { ...scope.flow, allowsError: true };
  const when = toFailure(lowerValue(condition, { ...scope, flow, allowsAttempt: true, allowsOutput: true }));
  return { ...done, retry: { ...done.retry, when } };
}

function toFailure(expr: Expr): Expr {
  if (expr.op !== "path") return mapChildren(expr, toFailure);
  return expr.root === "error" ? { ...expr, root: "failure" } : expr;
}

/** `if`: what the core cannot decide is computed by a step before it, in a flow of both. */
function underCondition({ id: stepId, body }: StepDefinition, done: Doing, scope: ValueScope): Doing {
  const condition = conditionOf(body);
  if (condition === undefined) return done;
  const whenWritten = String(condition.value);
  const when = lowerValue(condition, scope);
  if (isDecidable(when)) return { ...done, when, whenWritten };
  const check = freeId("if", scope.context);
  const id = readsStep(done, stepId) ? freeId(stepId, scope.context) : stepId;
  const steps: readonly Step[] = [
    { kind: "set", id: check, value: { op: "and", of: [when] } },
    { ...done, id, after: [check], when: isEqualTo(outputOf(check), literal(true)), whenWritten },
  ];
  return { kind: "flow", flow: { kind: "dag", steps, result: id } };
}

function lowerDoing(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Doing {
  const { body } = step;
  if (body === undefined) return UNREADABLE;
  if ("subtype" in body) return lowerControl(step, body, scope, planBlock);
  return body.type === "http" ? lowerRequest(body, scope) : lowerWork(body, scope);
}

/**
 * `outputMapping`: a flow of the step itself and of what is made of its output. The step keeps its id inside, for the one who
 * knows it by that, unless it reads its own output of the visit before, which the one inside would hide.
 */
function shapeOutput(
  stepId: string,
  { output, done }: { readonly output: YamlNode; readonly done: Doing },
  scope: ValueScope,
): Doing {
  const mapping = lowerValue(output, { ...scope, allowsOutput: true });
  const id = readsStep(done, stepId) || readsStep(mapping, stepId) ? freeId(stepId, scope.context) : stepId;
  const result = freeId("result", scope.context);
  return {
    kind: "flow",
    flow: {
      kind: "dag",
      steps: [
        { ...done, id },
        { kind: "set", id: result, after: [id], value: readFrom(id, mapping) },
      ],
      result,
    },
  };
}

function readFrom(id: string, mapping: Expr): Expr {
  if (mapping.op !== "path") return mapChildren(mapping, (child) => readFrom(id, child));
  return mapping.root === "output" ? { ...mapping, ...outputOf(id, ...mapping.path) } : mapping;
}

function readsStep(part: unknown, id: string): boolean {
  if (typeof part !== "object" || part === null) return false;
  if (isJsonObject(part) && part["root"] === "steps" && part["name"] === id) return true;
  return Object.values(part).some((inner) => readsStep(inner, id));
}
