import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { mapChildren } from "../../core/expressions/walk-paths.ts";
import type { Graph, Step } from "../../core/graph/graph.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { stepsWithin } from "../../core/graph/steps-within.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";

/**
 * The workflow with nothing but one of its steps, wherever that stands: no transitions, no fan-out, no condition. Its mapped
 * input is the run's input; what it reads of an item of a loop around it are `item` and `index` there. Throws `STEP_NOT_FOUND`, and `NOT_SUPPORTED` where the step does no work of its own.
 */
export function onlyStep(definition: CompiledDefinition, id: string): CompiledDefinition {
  const { graph } = definition;
  // A step that only wraps the work of the same name stands for it.
  const step = stepsWithin(graph.flow).find(
    (each) => each.id === id && !(each.kind === "flow" && each.flow.steps.some((inner) => inner.id === id)),
  );
  if (step === undefined) {
    const ids = [...new Set(stepsWithin(graph.flow).map((each) => each.id))].join(", ");
    throw new PawlError("STEP_NOT_FOUND", {
      message: `"${graph.name}" has no step "${id}".`,
      remedy: `Its steps are: ${ids}.`,
    });
  }
  return { ...definition, graph: liftControls(withOnly(graph, step)) };
}

function withOnly(graph: Graph, step: Step): Graph {
  const { triggers: _, schedule: __, concurrency: ___, rate: ____, ...rest } = graph;
  return {
    ...rest,
    input: { declared: [], defaults: {} },
    flow: { kind: "machine", start: step.id, steps: [alone(step)] },
    ending: { deadLetter: false },
  };
}

function alone(step: Step): Step {
  const {
    after: _a,
    each: _e,
    when: _w,
    follows: _f,
    itemFields: _i,
    usesItem: _u,
    transitions: _t,
    project: _p,
    ...rest
  } = step;
  const bare = rest as Step;
  switch (bare.kind) {
    case "task":
      return { ...bare, input: givenItem(givenInput(bare.input)) };
    case "call":
      return { ...bare, input: RUN_INPUT };
    case "flow":
    case "wait":
    case "approve":
    case "set":
    case "respond":
      return bare;
  }
}

const RUN_INPUT: Expr = { op: "path", root: "input", path: [] };

/** The executor's other settings (script, prompt, tool) stay as they are. */
function givenInput(input: Expr): Expr {
  if (input.op !== "object") return input;
  for (const name of ["input", "arguments"]) {
    if (Object.hasOwn(input.entries, name)) return { ...input, entries: { ...input.entries, [name]: RUN_INPUT } };
  }
  return input;
}

function givenItem(expr: Expr): Expr {
  if (expr.op === "path" && (expr.root === "item" || expr.root === "index")) {
    const { name: _, ...path } = expr;
    return { ...path, root: "input", path: [expr.root, ...expr.path] };
  }
  return mapChildren(expr, givenItem);
}
