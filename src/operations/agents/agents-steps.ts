import type { Expr } from "../../core/expressions/expr.ts";
import type { Graph, Step } from "../../core/graph/graph.ts";
import { parseStepPath } from "../../core/graph/step-path.ts";
import { isJsonObject } from "../../core/json.ts";

/** A step of a workflow of agents, as its author counts it. */
export interface AgentsStep {
  readonly id: string;
  /** From 1. */
  readonly number: number;
  readonly name: string;
  readonly type: "agent" | "workflow";
}

/** The steps that an author has written, in this order; the one that shapes the result is not among these. */
export function agentsStepsOf({ flow }: Graph): readonly AgentsStep[] {
  const written = flow.steps.filter(({ kind }) => kind === "task" || kind === "flow" || kind === "call");
  const ids = new Set(written.map(({ id }) => id));
  return written.map((step, index) => {
    const type = step.kind === "task" ? "agent" : "workflow";
    return { id: step.id, number: index + 1, name: nameOf(step, ids), type };
  });
}

/** The step that a path belongs to, however deep inside it lies. */
export function agentsStepAt(steps: readonly AgentsStep[], path: string): AgentsStep | undefined {
  const { stepId } = parseStepPath(path.split("/", 1)[0] ?? path);
  return steps.find(({ id }) => id === stepId);
}

/** An id is the name, with a number where another step has it already. */
function nameOf(step: Step, ids: ReadonlySet<string>): string {
  const named =
    step.kind === "task" ? agentIn(step.input) : step.kind === "call" ? literalIn(step.workflow) : undefined;
  if (typeof named === "string") return named;
  const first = step.id.replace(/ \(\d+\)$/, "");
  return ids.has(first) ? first : step.id;
}

function agentIn(input: Expr): unknown {
  const agent =
    input.op === "object" && input.entries["agent"] !== undefined ? literalIn(input.entries["agent"]) : null;
  return isJsonObject(agent) ? agent["name"] : undefined;
}

function literalIn(expression: Expr) {
  return expression.op === "literal" ? expression.value : undefined;
}
