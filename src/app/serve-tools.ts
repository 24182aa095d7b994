import type { ServeToolsOptions } from "../operations/application/application.ts";
import type { ToolSet } from "../ports/tool-set.ts";
import { readVersion } from "./read-version.ts";
import { serveMcp } from "./serve-mcp.ts";

/** Offers tools to other programs until they are gone, or `stop` aborts. */
export async function serveTools(tools: ToolSet, options: ServeToolsOptions): Promise<void> {
  const { plainNames, http, log, stop } = options;
  const { createToolServer } = await import("../surfaces/mcp/create-tool-server.ts");
  const server = { tools, version: await readVersion(), plainNames, log };
  await serveMcp({
    createServer: () => createToolServer(server),
    ...(http === undefined ? {} : { http: { address: "127.0.0.1", port: http.port } }),
    log,
    stop,
  });
}
