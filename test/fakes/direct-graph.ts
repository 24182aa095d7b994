import type { Expr } from "../../src/core/expressions/expr.ts";
import type { Flow, Graph, Step, TaskStep } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";

/** A graph as a dialect would hand it over, for tests that need no text. */
export function toGraph(flow: Flow | readonly Step[]): Graph {
  return liftControls({
    format: 1,
    dialect: "direct",
    name: "test",
    input: { declared: [], defaults: {} },
    flow: "kind" in flow ? flow : { kind: "dag", steps: flow },
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
  });
}

/** An agent's task, with these as its input. */
export function agentTask(id: string, entries: { readonly [name: string]: Expr } = {}): TaskStep {
  return { id, kind: "task", executor: "agent", input: { op: "object", entries } };
}
