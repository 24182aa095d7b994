import type { JsonObject } from "../../core/json.ts";
import type { Application } from "../application/application.ts";
import { checkWholeText, describeProblem } from "./compile-text.ts";
import { loadOptionsOf } from "./load-options.ts";

/** The problems of a text, and what could be run. */
export interface TextValidation {
  readonly valid: boolean;
  /** Warnings too. */
  readonly problems: readonly JsonObject[];
  readonly workflows: readonly { readonly name: string; readonly dialect: string; readonly steps: number }[];
}

/** Everything at once. A text that is sent has no folder: files that it names are not looked for. */
export async function validateText({ config }: Pick<Application, "config">, text: string): Promise<TextValidation> {
  const { definitions, isValid, problems } = await checkWholeText(text, { folders: [], ...loadOptionsOf(config) });
  const workflows = definitions.map(({ graph }) => {
    const { name, dialect, flow } = graph;
    return { name, dialect, steps: flow.steps.length };
  });
  return { valid: isValid, problems: problems.map(describeProblem), workflows };
}
