import type { JsonObject } from "../core/json.ts";

export interface RenderOptions {
  /** What has no value is an error wherever it is used. Otherwise it is empty and false, as in Jinja2. */
  readonly isStrict?: boolean;
}

/** Puts values into prompt templates (Jinja2). */
export interface PromptRenderer {
  /**
   * One pass: what is put in is never expanded again. Bounded in time, memory and length, whatever the template says.
   * Throws `PROMPT_INVALID`; its details tell the line, the column, and of a missing value the name.
   */
  render(template: string, input: JsonObject, options?: RenderOptions): Promise<string>;
}
