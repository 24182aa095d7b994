import type { Application } from "../application/application.ts";
import type { TextValidation } from "../workflows/workflow-schemas.ts";
import { checkWholeText, describeProblem, type WholeReport } from "./compile-text.ts";
import { loadOptionsOf } from "./load-options.ts";

/** Everything at once. A text that is sent has no folder: files that it names are not looked for. */
export async function validateText({ config }: Pick<Application, "config">, text: string): Promise<TextValidation> {
  return describeReport(await checkWholeText(text, { folders: [], ...loadOptionsOf(config) }));
}

export function describeReport({ definitions, parts, isValid, problems }: WholeReport): TextValidation {
  const workflows = definitions.map(({ graph }) => {
    const { name, dialect, flow } = graph;
    return { name, dialect, steps: flow.steps.length };
  });
  const agents = parts?.filter(({ kind }) => kind === "agent").length;
  return { valid: isValid, problems: problems.map(describeProblem), workflows, agents };
}
