import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { toWritable, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import type { OfferedTool } from "../../ports/tools/tool-set.ts";

/** An output twice: older clients read only the text. */
export function toCallResult(output: Json): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text: writeExact(output) }];
  return isJsonObject(output) ? { content, structuredContent: toWritable({ ...output }) } : { content };
}

/** An error with its remedy, so that a model can correct its call. */
export function toErrorResult(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}

/** A tool as `tools/list` shows it. */
export function toListedTool(
  { title, description, inputSchema, outputSchema, hints, toText }: OfferedTool,
  name: string,
): Tool {
  return {
    name,
    title,
    description,
    inputSchema: toWritable({ ...inputSchema, type: "object" }),
    // A client would miss what its schema promises.
    ...(toText === undefined ? { outputSchema: toWritable({ ...outputSchema, type: "object" }) } : {}),
    annotations: {
      title,
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}
