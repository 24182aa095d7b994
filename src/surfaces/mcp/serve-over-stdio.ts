import { once } from "node:events";
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

export interface StdioOptions {
  /** Made anew for each connection. */
  createServer(): Server;
  log(line: string): void;
  readonly stop: AbortSignal;
}

/** Speaks MCP over stdin and stdout until stdin ends, as it does when the other program is gone, or `stop` aborts. */
export async function serveOverStdio({ createServer, log, stop }: StdioOptions): Promise<void> {
  const handle = serveStdio(createServer, { onerror: (error) => log(error.message) });
  try {
    await Promise.race([once(process.stdin, "close", { signal: stop }), once(process.stdin, "end", { signal: stop })]);
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    await handle.close();
    // Left open it would keep the process.
    process.stdin.destroy();
  }
}
