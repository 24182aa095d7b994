import type { Tool } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject } from "../../core/json.ts";

/** A tool as its server offers it. All of it is the server's word. */
export interface ServerTool {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  /** Calling it again does no harm: it only reads, or has its effect once. */
  readonly isRepeatable: boolean;
}

export function toServerTool(server: string, tool: Tool): ServerTool {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    server,
    name,
    title,
    description,
    inputSchema: toSchema(inputSchema) ?? {},
    ...(outputSchema === undefined ? {} : { outputSchema: toSchema(outputSchema) ?? {} }),
    isRepeatable: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
  };
}

/** MCP's schemas are of draft 2020-12 where they do not say otherwise. It came as JSON, so it is JSON. */
function toSchema(schema: object): JsonObject | undefined {
  if (!isJsonObject(schema)) return undefined;
  return "$schema" in schema ? schema : { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema };
}
