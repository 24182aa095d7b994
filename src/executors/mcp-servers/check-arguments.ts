import type { JsonObject } from "../../core/json.ts";
import type { SchemaValidators } from "../output/schema-validators.ts";
import { describeViolations, toDetails } from "./describe-violations.ts";
import { McpFailure } from "./mcp-failure.ts";
import type { ServerTool } from "./server-tool.ts";
import { withoutDefaulted } from "./without-defaulted.ts";

/**
 * Throws `MCP_ARGUMENTS_INVALID` before anything was asked of the server. A schema that cannot be used is the server's
 * business: then it judges the arguments itself.
 */
export async function checkArguments(tool: ServerTool, args: JsonObject, validators: SchemaValidators): Promise<void> {
  const schema = await validators.compile(withoutDefaulted(tool.inputSchema));
  const violations = schema.ok ? schema.validate(args) : [];
  if (violations.length === 0) return;
  throw new McpFailure("MCP_ARGUMENTS_INVALID", {
    message: `The arguments do not fit \`${tool.server}.${tool.name}\`: ${describeViolations(violations)}.`,
    retryable: false,
    effect: "none",
    details: toDetails(violations),
  });
}
