import type { Expr } from "../../../core/expressions/expr.ts";
import { mapChildren } from "../../../core/expressions/walk-paths.ts";
import type { Step } from "../../../core/graph/graph.ts";
import { isJsonObject } from "../../../core/json.ts";
import type { StepDefinition } from "../workflow.ts";
import { type Doing, outputOf } from "./doing.ts";
import { freeId, toPlace } from "./lower-context.ts";
import { lowerControl } from "./lower-control.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";
import { lowerWork } from "./lower-work.ts";
import type { PlanBlock } from "./plan-block.ts";

/** A step without where it leads. */
export function lowerStep(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Step {
  const done = lowerDoing(step, scope, planBlock);
  const { description } = step;
  return {
    id: step.id,
    description,
    place: toPlace(step.at, scope.context.source),
    ...(step.output === undefined ? done : shapeOutput(step, done, scope)),
  };
}

function lowerDoing(step: StepDefinition, scope: ValueScope, planBlock: PlanBlock): Doing {
  const { body } = step;
  if (body.type === "jit" || body.type === "llm" || body.type === "mcp") return lowerWork(step, body, scope);
  return lowerControl(step, body, scope, planBlock);
}

/**
 * `outputMapping`: a flow of the step itself and of what is made of its output. The step keeps its id inside, for whoever
 * knows it by that, unless it reads its own output of the visit before, which the one inside would hide.
 */
function shapeOutput(step: StepDefinition, done: Doing, scope: ValueScope): Doing {
  const mapping = lowerValue(step.output, { ...scope, allowsOutput: true });
  const id = readsStep(done, step.id) || readsStep(mapping, step.id) ? freeId(step.id, scope.context) : step.id;
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
