import { readTemplate, renderTemplate, TemplateError } from "#jinja";
import type { JsonObject } from "../../../core/json.ts";
import type { PromptRenderer, RenderOptions } from "../../../ports/prompt-renderer.ts";
import { toPromptInvalid } from "./prompt-invalid.ts";

export interface RendererLimits {
  /** Steps of one rendering: a hundred thousand passes through a small loop. They take a tenth of a second at worst. */
  readonly steps?: number;
  /** Characters of a rendered prompt. Default 8 million, which no model reads. */
  readonly maxLength?: number;
}

/** Renders on the thread that drives all runs: what a template may do is counted, so that none can hold it for long. */
export function createPromptRenderer({ steps = 300_000, maxLength = 8_000_000 }: RendererLimits = {}): PromptRenderer {
  const limits = { steps, maxLength, random: Math.random };
  return {
    async render(template: string, input: JsonObject, { isStrict = false }: RenderOptions = {}): Promise<string> {
      try {
        return renderTemplate(readTemplate(template), input, { ...limits, isStrict });
      } catch (error) {
        throw error instanceof TemplateError ? toPromptInvalid(error, template) : error;
      }
    },
  };
}
