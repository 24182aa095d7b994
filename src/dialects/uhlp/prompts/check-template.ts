import type { TemplateFault } from "../../../core/errors/template-fault.ts";
import { TemplateError } from "../../../core/jinja/template-error.ts";

/** Finds the first mistake of a Jinja template; nothing is rendered. Loads the language when first asked. */
export async function findTemplateFault(template: string): Promise<TemplateFault | undefined> {
  const { readTemplate } = await import("../../../core/jinja/render-template.ts");
  try {
    readTemplate(template);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return error.toFault(template);
    throw error;
  }
}
