import type { Expr } from "../../../core/expressions/expr.ts";
import { mapChildren } from "../../../core/expressions/walk-paths.ts";
import type { Step } from "../../../core/graph/graph.ts";
import { isJsonObject } from "../../../core/json.ts";
import { outputOf } from "../../build-expr.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import type { StepDefinition } from "../shape/step-shape.ts";
import type { PlanBlock } from "./flow-plan.ts";
import { type Doing, freeId, UNREADABLE } from "./lower-context.ts";
import { lowerControl } from "./lower-control.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";
import { lowerWork } from "./lower-work.ts";

/** A step without where it leads. */
export function lowerStep(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Step {
  const done = lowerDoing(step, scope, planBlock);
  const { id, at, body } = step;
  const output = body !== undefined && "outputMapping" in body ? body.outputMapping : undefined;
  return {
    id,
    description: body?.description?.value || undefined,
    place: scope.context.problems.source.position(at),
    ...(output === undefined ? done : shapeOutput(id, { output, done }, scope)),
  };
}

function lowerDoing(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Doing {
  const { body } = step;
  if (body === undefined) return UNREADABLE;
  return "subtype" in body ? lowerControl(step, body, scope, planBlock) : lowerWork(body, scope);
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
