import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import type { RequestStates } from "./create-fixture-server.ts";

export interface FixtureCall {
  readonly args: Readonly<Record<string, unknown>>;
  readonly token: string | number | undefined;
  readonly context: ServerContext;
  readonly states: RequestStates;
}

type Answer = CallToolResult | InputRequiredResult;

export interface FixtureTool {
  readonly listed: Tool;
  call(call: FixtureCall): Answer | Promise<Answer>;
}

export function toTool(name: string, call: FixtureTool["call"], inputSchema: Partial<Tool["inputSchema"]> = {}) {
  return {
    listed: {
      name,
      description: `For the scenario that calls ${name}.`,
      inputSchema: { type: "object", ...inputSchema },
    },
    call,
  } satisfies FixtureTool;
}

export function toText(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}
