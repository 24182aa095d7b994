import type { CallToolResult } from "@modelcontextprotocol/server";
import { isJsonObject, type Json } from "../../core/json.ts";

/** An output twice: older clients read only the text. */
export function toCallResult(output: Json): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text: JSON.stringify(output) }];
  return isJsonObject(output) ? { content, structuredContent: { ...output } } : { content };
}

/** An error with its remedy, so that a model can correct its call. */
export function toErrorResult(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}
