import { randomUUID } from "node:crypto";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { BoundedMap } from "../../core/bounded-map.ts";
import type { Watched } from "./watched.ts";

export interface Held {
  readonly caller: string;
  readonly server: Server;
  /** Ends with the session. */
  readonly watched: Watched | undefined;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

/** Of more, that which was not used for longest is let go. */
const MAX_HELD = 500;

/**
 * Sessions of clients of 2025 over HTTP that this process has begun. Each has a server that lasts, which can ask its client and tell it
 * of changes. A client that is not held, as its server has begun anew, is answered as well, by a server for each request.
 */
export class HeldSessions {
  readonly #held = new Map<string, Held>();
  /** Those that their clients have ended. */
  readonly #ended = new BoundedMap<string, true>(MAX_HELD);

  /** A client that has ended its session is answered no more in it. */
  hasEnded(session: string | null): boolean {
    return session !== null && this.#ended.has(session);
  }

  /** Nobody uses the session of another caller. */
  find(session: string | null, caller: string): Held | undefined {
    const held = session === null ? undefined : this.#held.get(session);
    if (session === null || held?.caller !== caller) return undefined;
    this.#held.delete(session);
    this.#held.set(session, held);
    return held;
  }

  async begin(server: Server, caller: string, watched: Watched | undefined): Promise<Held> {
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session): void => this.#hold(session, { caller, server, transport, watched }),
      onsessionclosed: (session) => {
        this.#held.delete(session);
        this.#ended.set(session, true);
      },
    });
    server.onclose = () => watched?.close();
    await server.connect(transport);
    return { caller, server, transport, watched };
  }

  async close(): Promise<void> {
    const all = [...this.#held.values()];
    this.#held.clear();
    await Promise.allSettled(all.map(({ transport }) => transport.close()));
  }

  #hold(session: string, held: Held): void {
    this.#held.set(session, held);
    const [oldest] = this.#held;
    if (oldest === undefined || this.#held.size <= MAX_HELD) return;
    this.#held.delete(oldest[0]);
    oldest[1].transport.close().catch(() => undefined);
  }
}
