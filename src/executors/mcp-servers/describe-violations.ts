import type { JsonObject } from "../../core/json.ts";
import type { SchemaViolation } from "../output/schema-validators.ts";

export function describeViolations(violations: readonly SchemaViolation[]): string {
  return violations.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}

export function toDetails(violations: readonly SchemaViolation[]): JsonObject {
  return { violations: violations.map(({ path, message }) => ({ path, message })) };
}
