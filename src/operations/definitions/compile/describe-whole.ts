import type { TextValidation } from "../../workflows/workflow-schemas.ts";
import { describeProblem } from "../describe-problem.ts";
import type { WholeReport } from "./report-on-text.ts";

/** A checked text, as clients are told of it. */
export function describeWhole({ definitions, parts, isValid, problems }: WholeReport): TextValidation {
  const workflows = definitions.map(({ graph }) => {
    const { name, dialect, flow } = graph;
    return { name, dialect, steps: flow.steps.length };
  });
  const agents = parts?.filter(({ kind }) => kind === "agent").length;
  return { valid: isValid, problems: problems.map(describeProblem), workflows, agents };
}
