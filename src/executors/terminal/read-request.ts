import type { Json, JsonObject } from "../../core/json.ts";
import { isTerminalTool, TERMINAL_TOOLS, type TerminalToolName, type ToolInput } from "../../ports/terminal-tools.ts";

export interface ToolRequest {
  readonly tool: TerminalToolName;
  readonly request: ToolInput<TerminalToolName>;
}

/** Reads what a workflow or a client gives to a tool. A null counts as absent; the text of a number is one, for variables are texts. */
export function readRequest(tool: string, params: JsonObject): ToolRequest | { readonly problem: string } {
  if (!isTerminalTool(tool)) return { problem: `There is no tool \`${tool}\`.` };
  const { input } = TERMINAL_TOOLS[tool];
  const given = Object.entries(params).filter(([, value]) => value !== null);
  const read = input.safeParse(
    Object.fromEntries(given.map(([name, value]) => [name, takesNumber(input, name) ? toNumber(value) : value])),
  );
  if (read.success) return { tool, request: read.data };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0]);
  const isMissing = !given.some(([known]) => known === name);
  return { problem: `\`${name}\` ${isMissing ? "is missing." : issue?.message}` };
}

function takesNumber({ shape }: { readonly shape: object }, name: string): boolean {
  const field = new Map(Object.entries(shape)).get(name);
  return field?.safeParse(0).success === true;
}

function toNumber(value: Json): Json {
  return typeof value === "string" && value.trim() !== "" ? Number(value) : value;
}
