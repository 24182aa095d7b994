import type { OpenApplication } from "../../../operations/application/ports.ts";
import type { CommonOptions } from "../cli-context.ts";
import { tell } from "../print.ts";
import { withStopSignals } from "../stop-signals.ts";

export interface McpCoreOptions extends CommonOptions {
  readonly http?: true;
  readonly port?: number;
  readonly plainNames?: true;
}

export interface McpServeOptions extends CommonOptions {
  readonly http?: true;
  readonly host?: string;
  readonly port?: number;
  readonly token?: string;
}

export interface McpTerminalOptions extends McpServeOptions {
  readonly tools?: readonly string[];
}

/** `pawl mcp`: runs, workflows and schedules as an MCP server. Stdout belongs to the protocol. */
export async function mcpServe(app: OpenApplication, options: McpServeOptions): Promise<number> {
  await withStopSignals(({ stop }) => app.serveRuns({ ...toReach(options), log: tell, stop }));
  return 0;
}

/** `pawl mcp terminal`: terminals and workflows over them as an MCP server. Stdout belongs to the protocol. */
export async function mcpTerminal(app: OpenApplication, options: McpTerminalOptions): Promise<number> {
  const withRuns = options.tools?.includes("runs") === true;
  await withStopSignals(async ({ stop, force }) => {
    await app.serveTerminals({ ...toReach(options), withRuns, log: tell, stop });
    await app.leave(stop, force);
  });
  return 0;
}

/** `pawl mcp core`: the application's built-in tools as an MCP server. Stdout belongs to the protocol. */
export async function mcpCore(app: OpenApplication, options: McpCoreOptions): Promise<number> {
  const http = options.http === true ? { port: options.port ?? 0 } : undefined;
  const plainNames = options.plainNames === true;
  await withStopSignals(({ stop }) => app.serveTools({ http, plainNames, log: tell, stop }));
  return 0;
}

function toReach({ http, host, port = 0, token }: McpServeOptions) {
  return { ...(http === true ? { http: { port, host } } : {}), token };
}
