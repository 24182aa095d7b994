import { createHash, timingSafeEqual } from "node:crypto";
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  type Server,
} from "@modelcontextprotocol/server";
import { McpHandler, type McpRequest } from "./mcp-handler.ts";
import type { Marks } from "./watched.ts";

export interface McpFetchOptions {
  /** Made anew for each request. */
  createServer(request: Pick<McpRequest<unknown>, "cancelled" | "toolsets" | "watched">): Server;
  /** Absent: nothing changes. */
  readonly marks?: Marks | undefined;
  /** Beside those of this machine itself: names by which it may be called. */
  readonly hostnames?: readonly string[];
  /** The token that every request must have. */
  readonly token: string;
  log(line: string): void;
}

export interface McpFetch {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export const MCP_PATH = "/mcp";
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** MCP over HTTP as a function from a request to its response. Web pages cannot reach it through a name of their own. */
export function createMcpFetch({ hostnames = [], token, marks, ...options }: McpFetchOptions): McpFetch {
  const maxBodyBytes = MAX_BODY_BYTES;
  const handler = new McpHandler<typeof WHOEVER_IS_LET_IN>({
    ...options,
    ...(marks && { marksFor: () => marks }),
    maxBodyBytes,
  });
  const known = [...localhostAllowedHostnames(), ...hostnames];
  const authorize = requireToken(token);
  return {
    async fetch(request) {
      const refused = hostHeaderValidationResponse(request, known) ?? refuseOrigin(request);
      if (refused !== undefined) return refused;
      const authorized = await authorize(request);
      if (authorized instanceof Response) return authorized;
      if (new URL(request.url).pathname !== MCP_PATH) return new Response(null, { status: 404 });
      return await handler.fetch(request, WHOEVER_IS_LET_IN);
    },
    close: () => handler.close(),
  };
}

/** A page of another origin, be it on another port of this machine, may send nothing. */
function refuseOrigin({ headers }: Request): Response | undefined {
  const origin = headers.get("origin") ?? "";
  if (origin === "" || origin === `http://${headers.get("host")}`) return undefined;
  const error = { code: REFUSED, message: "Pages of other origins may not send requests here." };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 403 });
}

/** As the SDK answers it for a host. */
const REFUSED = -32_000;

const WHOEVER_IS_LET_IN = { id: "" };

const VALID_SECONDS = 60;

function requireToken(token: string) {
  const expected = digest(token);
  return requireBearerAuth({
    verifier: {
      async verifyAccessToken(given) {
        if (!timingSafeEqual(digest(given), expected))
          throw new OAuthError(OAuthErrorCode.InvalidToken, "Wrong token.");
        return {
          token: given,
          clientId: "pawl",
          scopes: [],
          expiresAt: Math.floor(Date.now() / 1_000) + VALID_SECONDS,
        };
      },
    },
  });
}

/** Texts of any length become digests of equal length, as `timingSafeEqual` needs them. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
