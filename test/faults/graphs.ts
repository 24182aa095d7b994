import type { Expr, PathExpr } from "../../src/core/expressions/expr.ts";
import type { Ending, Flow, Graph, RunLimits, Step, TaskStep } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Json } from "../../src/core/json.ts";

/** Short ways to write graphs by hand. */
export function toGraph(
  flow: Flow | readonly Step[],
  more: {
    readonly name?: string;
    readonly ending?: Partial<Ending>;
    readonly limits?: RunLimits;
    readonly envAllowed?: readonly string[];
  } = {},
): Graph {
  return liftControls({
    format: 1,
    dialect: "direct",
    name: more.name ?? "faults",
    input: { declared: [], defaults: {} },
    flow: "kind" in flow ? flow : { kind: "dag", steps: flow },
    limits: more.limits ?? {},
    ending: { deadLetter: false, ...more.ending },
    envAllowed: more.envAllowed ?? [],
    settings: {},
  });
}

export function task(id: string, more: Partial<TaskStep> = {}): TaskStep {
  return { kind: "task", id, executor: "code", input: literal(null), ...more };
}

export function literal(value: Json): Expr {
  return { op: "literal", value };
}

/** `path("steps.a.x")`, `path("input.list")`, `path("output.n")`. */
export function path(text: string): PathExpr {
  const [root = "input", ...names] = text.split(".");
  if (root === "steps" || root === "vars" || root === "env" || root === "storage") {
    const [name = "", ...rest] = names;
    return { op: "path", root, name, path: rest };
  }
  return { op: "path", root: root as PathExpr["root"], path: names };
}

export function text(...parts: readonly (string | Expr)[]): Expr {
  return { op: "text", parts: parts.map((part) => (typeof part === "string" ? part : { value: part, written: "?" })) };
}
