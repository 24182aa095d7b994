import type { Flow, Graph } from "../../core/graph/graph.ts";

/** The kinds of executors that a graph's own steps need, and whether it calls workflows that may need others. */
export function executorKindsOf(graph: Graph): { readonly kinds: ReadonlySet<string>; readonly hasCalls: boolean } {
  const kinds = new Set<string>();
  let hasCalls = false;
  const visit = (flow: Flow) => {
    for (const step of flow.steps) {
      if (step.kind === "task") kinds.add(step.executor);
      if (step.kind === "call") hasCalls = true;
      if (step.kind === "flow") visit(step.flow);
      if (step.catch !== undefined) visit(step.catch);
      if (step.finally !== undefined) visit(step.finally);
    }
  };
  visit(graph.flow);
  return { kinds, hasCalls };
}
