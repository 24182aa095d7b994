import type { Graph } from "../../core/graph/graph.ts";
import { stepsWithin } from "../../core/graph/steps-within.ts";
import { hasAnswerRules } from "../../core/trust/approvers.ts";

interface ExecutorKinds {
  readonly kinds: ReadonlySet<string>;
  readonly hasCalls: boolean;
  readonly namesPeople: boolean;
}

/** A served definition is started again and again. */
const known = new WeakMap<Graph, ExecutorKinds>();

/** The kinds of executors that a graph's own steps need, and whether it calls workflows that may need others. */
export function executorKindsOf(graph: Graph): ExecutorKinds {
  const before = known.get(graph);
  if (before !== undefined) return before;
  const found = look(graph);
  known.set(graph, found);
  return found;
}

function look(graph: Graph): ExecutorKinds {
  const steps = stepsWithin(graph.flow);
  const kinds = new Set(steps.flatMap((step) => (step.kind === "task" ? [step.executor] : [])));
  const namesPeople = steps.some((step) => step.kind === "approve" && hasAnswerRules(step));
  return { kinds, hasCalls: steps.some(({ kind }) => kind === "call"), namesPeople };
}
