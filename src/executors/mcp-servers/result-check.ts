import type { CallToolResult } from "@modelcontextprotocol/client";
import type { Json } from "../../core/json.ts";
import { isDeeperThan } from "../../core/json-depth.ts";
import { MAX_JSON_DEPTH } from "../../core/parse-json.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import { McpFailure } from "./mcp-failure.ts";
import type { ServerTool } from "./server-tool.ts";

/** Throws `MCP_RESULT_INVALID` for a result that nests too deeply: what redacts, checks and stores it recurses. */
export function checkDepth({ server, name, isRepeatable }: ServerTool, result: CallToolResult): void {
  // It came as JSON, whatever the SDK's type says.
  if (!isDeeperThan([result.structuredContent ?? null, result.content] as Json, MAX_JSON_DEPTH)) return;
  throw new McpFailure("MCP_RESULT_INVALID", {
    message: `The result of \`${server}.${name}\` is nested too deeply: more than ${MAX_JSON_DEPTH} levels.`,
    retryable: isRepeatable,
    effect: "done",
    isAnswered: true,
  });
}

/** How a result differs from what its tool promises. A schema that cannot be used is told to `warn`, and promises nothing. */
export async function findResultFlaws(
  { name, outputSchema }: ServerTool,
  { structuredContent }: CallToolResult,
  { validators, warn }: { readonly validators: JsonSchemas; warn?(message: string): void },
): Promise<readonly SchemaViolation[]> {
  if (outputSchema === undefined) return [];
  if (structuredContent === undefined) return [{ path: "", message: "has no structured content" }];
  const schema = await validators.compile(outputSchema);
  if (schema.ok) return schema.validate(structuredContent as Json);
  warn?.(`The output schema of ${name} cannot be used: ${schema.message}`);
  return [];
}
