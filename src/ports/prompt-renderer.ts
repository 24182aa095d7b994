import type { JsonObject } from "../core/json.ts";

/** Puts values into prompt templates (Jinja). */
export interface PromptRenderer {
  /**
   * One pass: what is put in is never expanded again. Bounded in time, memory and length, whatever the template says.
   * Throws `PROMPT_INVALID`; its details tell the line, the column, and of a missing value the name.
   */
  render(template: string, input: JsonObject): Promise<string>;
}
