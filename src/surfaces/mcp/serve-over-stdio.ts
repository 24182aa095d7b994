import { once } from "node:events";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createToolServer, type ToolServerOptions } from "./create-tool-server.ts";

/** Speaks MCP over stdin and stdout until stdin ends, as it does when the other program is gone, or `stop` aborts. */
export async function serveOverStdio(options: ToolServerOptions, stop: AbortSignal): Promise<void> {
  const handle = serveStdio(() => createToolServer(options), { onerror: (error) => options.log(error.message) });
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
