import { type MissingValue, readTemplate, renderTemplate, TemplateError } from "#jinja";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { PromptRenderer, RenderOptions } from "../../../ports/prompt-renderer.ts";

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

const MAX_NAMES = 30;

/** The error of a template with its place and, of a missing value, what there is instead. */
function toPromptInvalid(error: TemplateError, template: string): PawlError {
  const { reason, line, column } = error.toFault(template);
  const { missing } = error;
  const where = line === undefined ? "" : ` at line ${line}, column ${column}`;
  const place: JsonObject = line === undefined || column === undefined ? {} : { line, column };
  return new PawlError("PROMPT_INVALID", {
    message: `The template cannot be rendered${where}: ${missing === undefined ? reason : describe(missing)}.`,
    details: {
      ...place,
      ...(missing && { variable: missing.variable, available: missing.available.slice(0, MAX_NAMES) }),
    },
    ...(error.kind === "limit" ? { remedy: "Make the template simpler, or its values smaller." } : {}),
  });
}

function describe({ variable, parent, available }: MissingValue): string {
  const shown = available.slice(0, MAX_NAMES).map((name) => `\`${name}\``);
  const there = shown.length === 0 ? "nothing" : `${shown.join(", ")}${available.length > MAX_NAMES ? " ..." : ""}`;
  return `\`${variable}\` has no value; ${parent} has ${there}`;
}
