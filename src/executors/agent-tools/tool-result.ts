import type { ToolCallResult } from "../../ports/tools/agent-toolbox.ts";

export function toTextResult(text: string): ToolCallResult {
  return { isError: false, text, content: [{ type: "text", text }] };
}

export function toErrorResult(text: string): ToolCallResult {
  return { ...toTextResult(text), isError: true };
}
