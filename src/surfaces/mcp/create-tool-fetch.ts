import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import { createToolServer, type ToolServerOptions } from "./create-tool-server.ts";

export interface ToolFetch {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export const TOOL_PATH = "/mcp";

/** MCP over HTTP as a function from a request to its response. Web pages cannot reach it through a name of their own. */
export function createToolFetch(options: ToolServerOptions): ToolFetch {
  const handler = createMcpHandler(() => createToolServer(options), { onerror: (error) => options.log(error.message) });
  return {
    async fetch(request) {
      const refused =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins());
      if (refused !== undefined) return refused;
      if (new URL(request.url).pathname !== TOOL_PATH) return new Response(null, { status: 404 });
      return await handler.fetch(request);
    },
    close: () => handler.close(),
  };
}
