import { TemplateError, type TemplateFault, type UnfilledName } from "#jinja";
import { suggest } from "../../did-you-mean.ts";

/** Finds the first mistake of a Jinja template; nothing is rendered. Loads the language when first asked. */
export async function findTemplateFault(template: string): Promise<TemplateFault | undefined> {
  const { readTemplate } = await import("#jinja");
  try {
    readTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.toFault(template);
    throw error;
  }
}

/** Finds what a template reads and its step does not give it. A template with mistakes reads nothing. */
export async function findUnfilledNames(template: string, given: readonly string[]): Promise<readonly UnfilledName[]> {
  const { findUnfilled, readTemplate } = await import("#jinja");
  try {
    return findUnfilled(readTemplate(template), given);
  } catch (error) {
    if (error instanceof TemplateError) return [];
    throw error;
  }
}

/** What to do about a name that nothing fills. */
export function remedyForUnfilled(name: string, given: readonly string[]): string {
  const hint = suggest(name, given);
  return hint ?? `Give it in \`inputMapping\`, or write \`{{ ${name} | default('...') }}\`.`;
}
