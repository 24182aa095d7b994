import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { LoadedTerminalOptions } from "../../config/load-terminal-options.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { LiveTerminals } from "../../ports/terminals/terminal-views.ts";
import { TerminalPages } from "../../surfaces/web-terminals/terminal-pages.ts";
import { listenOn } from "../server/listen-on.ts";
import { isEveryAddress, isLoopback, namesOf, toAddress } from "../server/where-to-listen.ts";

export interface TerminalView {
  /** The address at which a session can be watched. It has the token, and nothing else is needed. */
  toWebUrl(sessionId: string): string;
  close(): Promise<void>;
}

export interface TerminalViewParts {
  readonly web: LoadedTerminalOptions["web"];
  readonly views: LiveTerminals;
  /** For a person. The token is never part of it. */
  tell(line: string): void;
}

const LOCAL_NAMES: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];
const TOKEN_BYTES = 24;
const MAX_CONNECTIONS = 256;

/**
 * Lets people watch the terminals of this process in a browser. Undefined: its port is taken, and terminals do without.
 * Throws `HOST_REFUSED` where other machines could look without a token that somebody has chosen.
 */
export async function serveTerminalView({ web, views, tell }: TerminalViewParts): Promise<TerminalView | undefined> {
  const address = toAddress(web.host);
  if (!isLoopback(address) && web.token === undefined) throw tokenMissing(web.host);
  const token = web.token ?? randomBytes(TOKEN_BYTES).toString("base64url");
  const hostnames = new Set([...LOCAL_NAMES, ...namesOf(address).map((name) => name.toLowerCase())]);
  const pages = new TerminalPages({ token, hostnames, views, canType: web.canType });
  try {
    const listener = await listenOn((request) => pages.fetch(request), {
      address,
      port: web.port,
      upgrade: (request, socket, head) => pages.upgrade(request, socket, head),
      maxConnections: MAX_CONNECTIONS,
    });
    const base = new URL(listener.url);
    if (isEveryAddress(address)) base.hostname = hostname();
    return {
      toWebUrl: (sessionId) => new URL(`/terminals/${sessionId}?token=${encodeURIComponent(token)}`, base).href,
      async close() {
        const closed = listener.close();
        pages.close();
        listener.hurry(AbortSignal.abort());
        await closed;
      },
    };
  } catch (error) {
    if (!isPawlError(error) || error.code !== "ADDRESS_UNAVAILABLE") throw error;
    tell(`The live view of terminals is off: ${error.message}`);
    return undefined;
  }
}

function tokenMissing(host: string): PawlError {
  return new PawlError("HOST_REFUSED", {
    message: `"${host}" (terminal.web_host) can be reached from other machines, and there is no token.`,
    remedy: "Set `terminal.web_token` to a secret of 16 characters or more, or let the view listen on 127.0.0.1.",
  });
}
