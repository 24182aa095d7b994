import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { ERRORS, isErrorCode } from "../../core/errors/error-table.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { Failed, Outcome } from "../../ports/executor.ts";
import type { ToolSet } from "../../ports/tools/tool-set.ts";
import { toCallResult, toErrorResult, toListedTool } from "./to-call-result.ts";

export interface ToolServerOptions {
  readonly tools: ToolSet;
  readonly version: string;
  /** List `core_state_getRuntimeValue` in place of `core.state.getRuntimeValue`, for clients that take no dots. */
  readonly plainNames: boolean;
  /** Takes the messages of tools, and defects. */
  log(line: string): void;
}

const INSTRUCTIONS =
  "Tools of a Pawl application: its definition files (workflows, prompts, scripts), values that outlast a run, and its " +
  "log. Read a file before you write it; paths are relative to the application.";
/** The tools change only with the configuration. */
const LIST_TTL_MS = 60_000;

/** One definition for both eras of the protocol; made anew for each connection or request. */
export function createToolServer({ tools, version, plainNames, log }: ToolServerOptions): Server {
  const server = new Server(
    { name: "pawl-core", title: "Pawl core tools", version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { "tools/list": { ttlMs: LIST_TTL_MS, cacheScope: "private" } },
    },
  );
  const names = new Map(tools.tools.flatMap(({ name }) => [name, toPlainName(name)].map((form) => [form, name])));
  server.setRequestHandler("tools/list", () => ({
    tools: tools.tools.map((tool) => toListedTool(tool, plainNames ? toPlainName(tool.name) : tool.name)),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const name = names.get(params.name);
    if (name === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool \`${params.name}\`.`);
    // It came as JSON, so it is JSON.
    const args = (params.arguments ?? {}) as Json;
    const call = { arguments: args, log: (event: Json) => log(writeExact(event)) };
    try {
      return toResult(await tools.call(name, call, mcpReq.signal));
    } catch (error) {
      log(`pawl: a defect: ${error instanceof Error ? error.stack : String(error)}`);
      return toErrorResult("The tool broke down. This is a defect of Pawl; its stderr says more.");
    }
  });
  return server;
}

function toPlainName(name: string): string {
  return name.replaceAll(".", "_");
}

function toResult(outcome: Outcome): CallToolResult {
  return outcome.status === "failed" ? toErrorResult(explain(outcome)) : toCallResult(outcome.output);
}

/** With what to do next, so that a model can put its call right. */
function explain({ code, message }: Failed): string {
  const remedy = isErrorCode(code) ? ERRORS[code].remedy : "";
  return `${code}: ${message} ${remedy}`.trim();
}
