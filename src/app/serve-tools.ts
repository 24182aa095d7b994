import { once } from "node:events";
import type { ServeToolsOptions } from "../operations/application.ts";
import type { ToolSet } from "../ports/tool-set.ts";
import { listenOn } from "./listen-on.ts";
import { readVersion } from "./read-version.ts";

/** Offers tools to other programs until they are gone, or `stop` aborts. */
export async function serveTools(tools: ToolSet, options: ServeToolsOptions): Promise<void> {
  const { plainNames, http, log, stop } = options;
  const server = { tools, version: await readVersion(), plainNames, log };
  if (http !== undefined) return await serveOverHttp(server, { port: http.port, stop });
  const { serveOverStdio } = await import("../surfaces/mcp/serve-over-stdio.ts");
  await serveOverStdio(server, stop);
}

async function serveOverHttp(
  server: Parameters<typeof import("../surfaces/mcp/create-tool-fetch.ts")["createToolFetch"]>[0],
  { port, stop }: { readonly port: number; readonly stop: AbortSignal },
): Promise<void> {
  const { createToolFetch, TOOL_PATH } = await import("../surfaces/mcp/create-tool-fetch.ts");
  const handler = createToolFetch(server);
  const listener = await listenOn((request) => handler.fetch(request), { address: "127.0.0.1", port });
  server.log(`Listening on ${listener.url}${TOOL_PATH}`);
  if (!stop.aborted) await once(stop, "abort");
  const closed = listener.close();
  await handler.close();
  listener.hurry(AbortSignal.abort());
  await closed;
}
