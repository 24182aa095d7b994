import type { Application } from "../application/application.ts";
import type { TextValidation } from "../workflows/workflow-schemas.ts";
import { checkWholeText, describeProblem } from "./compile-text.ts";
import { loadOptionsOf } from "./load-options.ts";

/** Everything at once. A text that is sent has no folder: files that it names are not looked for. */
export async function validateText({ config }: Pick<Application, "config">, text: string): Promise<TextValidation> {
  const { definitions, isValid, problems } = await checkWholeText(text, { folders: [], ...loadOptionsOf(config) });
  const workflows = definitions.map(({ graph }) => {
    const { name, dialect, flow } = graph;
    return { name, dialect, steps: flow.steps.length };
  });
  return { valid: isValid, problems: problems.map(describeProblem), workflows };
}
