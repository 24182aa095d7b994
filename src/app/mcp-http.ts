import { PawlError } from "../core/errors/pawl-error.ts";
import type { Application, ServeRunsOptions } from "../operations/application/application.ts";
import { isLoopback, namesOf, toAddress } from "./addresses.ts";
import type { McpService } from "./serve-mcp.ts";

/** Where an MCP server listens; empty: over stdin and stdout. Beyond this machine only with a token: throws `HOST_REFUSED`. */
export function toMcpHttp({ config }: Application, { http, token: given }: ServeRunsOptions): Pick<McpService, "http"> {
  if (http === undefined) return {};
  const { host = "127.0.0.1", port } = http;
  const address = toAddress(host);
  const token = given ?? config.settings.server.api_key;
  if (token !== undefined) return { http: { address, port, token, hostnames: namesOf(address) } };
  if (isLoopback(address)) return { http: { address, port } };
  throw new PawlError("HOST_REFUSED", {
    message: `"${host}" can be reached from other machines, and there is no token.`,
    remedy: "Set `server.api_key` (API_KEY) or give `--token`; callers send it as `Authorization: Bearer`.",
  });
}
