import type { OpenApplication } from "../../../operations/application.ts";
import type { CommonOptions } from "../cli-context.ts";
import { tell } from "../print.ts";
import { listenForStop } from "../stop-signals.ts";

export interface McpCoreOptions extends CommonOptions {
  readonly http?: true;
  readonly port?: number;
  readonly plainNames?: true;
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
