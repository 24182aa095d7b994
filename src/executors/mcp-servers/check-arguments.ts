import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { describeViolations, type SchemaValidators, type SchemaViolation } from "../output/schema-validators.ts";
import { refusal } from "./mcp-failure.ts";
import type { ServerTool } from "./server-tool.ts";

/**
 * Throws `MCP_ARGUMENTS_INVALID` before anything was asked of the server. A schema that cannot be used is the server's
 * business: then it judges the arguments itself.
 */
export async function checkArguments(tool: ServerTool, args: JsonObject, validators: SchemaValidators): Promise<void> {
  const schema = await validators.compile(withoutDefaulted(tool.inputSchema));
  const violations = schema.ok ? schema.validate(args) : [];
  if (violations.length === 0) return;
  const message = `The arguments do not fit \`${tool.server}.${tool.name}\`: ${describeViolations(violations)}.`;
  throw refusal("MCP_ARGUMENTS_INVALID", message, toDetails(violations));
}

export function toDetails(violations: readonly SchemaViolation[]): JsonObject {
  return { violations: violations.map(({ path, message }) => ({ path, message })) };
}

/** Some servers list arguments as required that they fill in themselves: one with a default need not be given. */
export function withoutDefaulted(schema: JsonObject): JsonObject {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isJsonObject(properties)) return schema;
  const needed = required.filter((name) => {
    const property = typeof name === "string" ? properties[name] : undefined;
    return !(isJsonObject(property) && "default" in property);
  });
  return { ...schema, required: needed };
}
