import type { SchemaViolation } from "../../schemas/schema-compiler.ts";

/** Describes violations in one line. `whole` names the value itself. */
export function describeViolations(violations: readonly SchemaViolation[], whole = ""): string {
  return violations.map(({ path, message }) => `${path || whole} ${message}`.trim()).join("; ");
}

const MAX_LISTED = 10;

/** Lists violations for a model that has to correct them. */
export function listViolations(violations: readonly SchemaViolation[], whole: string): string {
  return violations
    .slice(0, MAX_LISTED)
    .map((violation) => `- ${describeViolations([violation], whole)}`)
    .join("\n");
}
