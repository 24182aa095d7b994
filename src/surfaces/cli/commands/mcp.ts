import type { OpenApplication } from "../../../operations/application/application.ts";
import type { CommonOptions } from "../cli-context.ts";
import { tell } from "../print.ts";
import { listenForStop } from "../stop-signals.ts";

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
  const signals = listenForStop();
  try {
    await app.serveRuns({ ...toReach(options), log: tell, stop: signals.stop });
    return 0;
  } finally {
    signals.close();
  }
}

/** `pawl mcp terminal`: terminals and workflows over them as an MCP server. Stdout belongs to the protocol. */
export async function mcpTerminal(app: OpenApplication, options: McpTerminalOptions): Promise<number> {
  const signals = listenForStop();
  const { tools = [] } = options;
  try {
    await app.serveTerminals({
      ...toReach(options),
      withRuns: tools.includes("runs"),
      log: tell,
      stop: signals.stop,
    });
    await app.leave(signals.stop, signals.force);
    return 0;
  } finally {
    signals.close();
  }
}

/** `pawl mcp core`: the application's built-in tools as an MCP server. Stdout belongs to the protocol. */
export async function mcpCore(app: OpenApplication, options: McpCoreOptions): Promise<number> {
  const signals = listenForStop();
  try {
    await app.serveTools({
      ...(options.http === true ? { http: { port: options.port ?? 0 } } : {}),
      plainNames: options.plainNames === true,
      log: tell,
      stop: signals.stop,
    });
    return 0;
  } finally {
    signals.close();
  }
}

function toReach({ http, host, port = 0, token }: McpServeOptions) {
  return { ...(http === true ? { http: { port, host } } : {}), token };
}
