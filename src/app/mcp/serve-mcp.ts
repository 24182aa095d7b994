import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "@modelcontextprotocol/server";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Place, ServeRunsOptions } from "../../operations/application/ports.ts";
import type { Marks, Watched } from "../../surfaces/mcp/watched.ts";
import { listenOn } from "../server/listen-on.ts";
import { isLoopback, namesOf, toAddress } from "../server/where-to-listen.ts";

export interface McpService {
  /** `cancelled`: by a client over HTTP, which says so with a request of its own. */
  createServer(request: {
    readonly cancelled: AbortSignal | undefined;
    readonly toolsets?: string | undefined;
    readonly watched?: Watched | undefined;
  }): Server;
  /** What clients may be told of. Absent: nothing changes. */
  readonly marks?: Marks;
  /** Absent: over stdin and stdout. */
  readonly http?: {
    readonly address: string;
    readonly port: number;
    /** By which it may be called, beside those of this machine itself. */
    readonly hostnames?: readonly string[];
    /** What every request must bear. */
    readonly token: string;
    /** It was not chosen: the one who starts the server is told. */
    readonly isTokenNew: boolean;
  };
  log(line: string): void;
  readonly stop: AbortSignal;
}

const TOKEN_BYTES = 24;

/** Speaks MCP until the other program is gone, or `stop` aborts. Throws `ADDRESS_UNAVAILABLE`. */
export async function serveMcp(service: McpService): Promise<void> {
  if (service.http !== undefined) return await serveOverHttp(service, service.http);
  const { serveOverStdio } = await import("../../surfaces/mcp/serve-over-stdio.ts");
  await serveOverStdio({
    ...service,
    createServer: (watched) => service.createServer({ cancelled: undefined, watched }),
  });
}

async function serveOverHttp(
  { createServer, marks, log, stop }: McpService,
  { address, port, isTokenNew, ...access }: NonNullable<McpService["http"]>,
): Promise<void> {
  const { createMcpFetch, MCP_PATH } = await import("../../surfaces/mcp/create-mcp-fetch.ts");
  const handler = createMcpFetch({ createServer, marks, log, ...access });
  const listener = await listenOn((request) => handler.fetch(request), { address, port });
  const told = `Callers send the header \`Authorization: Bearer ${access.token}\`, which is told this once.`;
  log(`Listening on ${listener.url}${MCP_PATH}${isTokenNew ? `\n${told}` : ""}`);
  if (!stop.aborted) await once(stop, "abort");
  const closed = listener.close();
  await handler.close();
  listener.hurry(AbortSignal.abort());
  await closed;
}

/**
 * The address of an MCP server; empty for stdin and stdout. Other users of this machine reach it too, so there is always a token; beyond
 * this machine a chosen one: throws `HOST_REFUSED`.
 */
export function toMcpHttp(
  { config }: Place,
  { http, token: given }: Pick<ServeRunsOptions, "http" | "token">,
): Pick<McpService, "http"> {
  if (http === undefined) return {};
  const { host = "127.0.0.1", port } = http;
  const address = toAddress(host);
  const token = given ?? config.settings.server.api_key;
  if (token !== undefined) return { http: { address, port, token, isTokenNew: false, hostnames: namesOf(address) } };
  if (isLoopback(address))
    return { http: { address, port, token: randomBytes(TOKEN_BYTES).toString("base64url"), isTokenNew: true } };
  throw new PawlError("HOST_REFUSED", {
    message: `"${host}" can be reached from other machines, and there is no token.`,
    remedy: "Set `server.api_key` (API_KEY) or give `--token`; callers send it as `Authorization: Bearer`.",
  });
}
