import type { Graph } from "../../../core/graph/graph.ts";
import { stepsWithin } from "../../../core/graph/steps-within.ts";
import { describeProblem } from "../describe-problem.ts";
import { explainGraph } from "../explain/explain-graph.ts";
import type { TextValidation } from "../workflow-schemas.ts";
import type { WholeReport } from "./report-on-text.ts";

/** More than these nobody can look at. */
const MAX_EXPLAINED_STEPS = 2_000;

/** A checked text, as clients are told of it. */
export function describeWhole(
  { definitions, parts, isValid, problems }: WholeReport,
  { withGraph = false }: { readonly withGraph?: boolean } = {},
): TextValidation {
  const steps = definitions.reduce((sum, { graph }) => sum + [...stepsWithin(graph.flow)].length, 0);
  const explain = (graph: Graph) => (steps > MAX_EXPLAINED_STEPS ? null : explainGraph(graph));
  const workflows = definitions.map(({ graph }) => {
    const { name, dialect, flow } = graph;
    return { name, dialect, steps: flow.steps.length, ...(withGraph ? { graph: explain(graph) } : {}) };
  });
  const agents = parts?.filter(({ kind }) => kind === "agent").length;
  return { valid: isValid, problems: problems.map(describeProblem), workflows, agents };
}
