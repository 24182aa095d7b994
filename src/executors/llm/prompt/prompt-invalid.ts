import type { MissingValue, TemplateError } from "#jinja";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../../core/json.ts";

const MAX_NAMES = 30;

/** The error of a template with its place and, of a missing value, what there is instead. */
export function toPromptInvalid(error: TemplateError, template: string): PawlError {
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
