import type { JsonObject } from "../core/json.ts";

export interface RenderOptions {
  /** What has no value is an error wherever it is used. Otherwise it is empty and false, as in Jinja2. */
  readonly isStrict?: boolean;
}

/** Puts values into prompt templates (Jinja2). */
export interface PromptRenderer {
  /** One pass: inserted text is never expanded. Bounded in time, memory and length. Throws `PROMPT_INVALID` with line, column and missing value. */
  render(template: string, input: JsonObject, options?: RenderOptions): Promise<string>;
}
