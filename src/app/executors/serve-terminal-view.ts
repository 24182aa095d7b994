import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type { LoadedTerminalOptions } from "../../config/load-terminal-options.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Ports } from "../../operations/application/ports.ts";
import type { HttpEnv } from "../../surfaces/http/http-parts.ts";
import { listenOn } from "../server/listen-on.ts";
import { isEveryAddress, isLoopback, namesOf, toAddress } from "../server/where-to-listen.ts";

export interface TerminalView {
  /** The page of a session. The address has the token, and nothing else is needed. */
  toWebUrl(sessionId: string): string;
  close(): Promise<void>;
}

export interface TerminalViewParts {
  readonly app: Ports;
  readonly web: LoadedTerminalOptions["web"];
  /** For a person. The token is never part of it. */
  tell(line: string): void;
  onDefect(error: unknown): void;
}

const TOKEN_BYTES = 24;
const MAX_CONNECTIONS = 256;
/** All that a token opens; the pages themselves are public. */
const OF_TERMINALS = /^\/terminals(\/[^/]+(\/(screen|stream|keys))?)?$/;

/**
 * Serves the pages at `/ui/` and the routes of terminals on a port of their own. Undefined: the port is taken, and terminals do without.
 * Throws `HOST_REFUSED` where other machines could look without a token that the user chose.
 */
export async function serveTerminalView({
  web,
  tell,
  ...service
}: TerminalViewParts): Promise<TerminalView | undefined> {
  const address = toAddress(web.host);
  if (!isLoopback(address) && web.token === undefined)
    throw new PawlError("HOST_REFUSED", {
      message: `"${web.host}" (terminal.web_host) can be reached from other machines, and there is no token.`,
      remedy: "Set `terminal.web_token` to a secret of 16 characters or more, or let the view listen on 127.0.0.1.",
    });
  // A token may be any text, and a header may not.
  const token = encodeURIComponent(web.token ?? randomBytes(TOKEN_BYTES).toString("base64url"));
  // The whole service is a good part of a process: it loads with the first request.
  let opened: ReturnType<typeof openService> | undefined;
  try {
    const listener = await listenOn(
      async (request, env) => {
        opened ??= openService({ ...service, address, token });
        return (await opened).http.fetch(request, env as HttpEnv["Bindings"]);
      },
      { address, port: web.port, maxConnections: MAX_CONNECTIONS },
    );
    const base = new URL(listener.url);
    if (isEveryAddress(address)) base.hostname = hostname();
    return {
      toWebUrl: (sessionId) => new URL(`/ui/terminals/${sessionId}?token=${token}`, base).href,
      async close() {
        const closed = listener.close();
        (await opened)?.stop();
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

interface Served extends Pick<TerminalViewParts, "app" | "onDefect"> {
  readonly address: string;
  readonly token: string;
}

/** The service with the token as its key, which opens the routes of terminals only. */
async function openService({ app: whole, address, token, onDefect }: Served) {
  const [{ openQuietService }, { Gatekeeper }, { LOOPBACK_HOSTS }] = await Promise.all([
    import("../server/open-quiet-service.ts"),
    import("../../surfaces/http/gatekeeper.ts"),
    import("../../surfaces/http/middleware.ts"),
  ]);
  return openQuietService(whole, {
    settings: { api_key: token },
    hosts: new Set([...LOOPBACK_HOSTS, ...namesOf(address).map((name) => name.toLowerCase())]),
    isLoopback: isLoopback(address),
    onDefect,
    gate(app) {
      const keeper = new Gatekeeper(app, { isLoopback: isLoopback(address) });
      return {
        async authorize(c, scope, way) {
          await keeper.authorize(c, scope, way);
          if (scope === "anybody" || scope === "open" || OF_TERMINALS.test(c.req.path)) return;
          throw new PawlError("FORBIDDEN", { message: "This address shows terminals and nothing else." });
        },
        appFor: (c) => keeper.appFor(c),
        callerFor: (c) => keeper.callerFor(c),
      };
    },
  });
}
