import type { JsonObject } from "../../core/json.ts";
import {
  isTerminalTool,
  TERMINAL_TOOLS,
  type TerminalToolName,
  type ToolInput,
} from "../../ports/terminals/terminal-tools.ts";
import { readToolInput } from "../../ports/tools/defined-tool.ts";

export type ToolRequest =
  | { readonly tool: TerminalToolName; readonly input: ToolInput<TerminalToolName> }
  | { readonly problem: string };

/** Reads the request of a workflow or of another program. Neither the name nor the parameters have been checked. */
export function readRequest(tool: string, params: JsonObject): ToolRequest {
  if (!isTerminalTool(tool)) return { problem: `There is no tool \`${tool}\`.` };
  return { tool, ...readToolInput(TERMINAL_TOOLS[tool].input, params) };
}
