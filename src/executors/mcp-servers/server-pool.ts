import { createHash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";
import { AskingCalls } from "./asking/asking-calls.ts";
import { type ManagedOptions, ManagedServer } from "./managed-server.ts";
import { stoppedFailure } from "./mcp-failure.ts";
import type { ServerAddress } from "./resolve-server.ts";
import { GroupGuard } from "./transports/group-guard.ts";

export interface ServerPoolOptions extends Omit<ManagedOptions, "guard" | "idleMs"> {}

/** Servers by the hash of their settings: equal settings share a connection. The creator closes the pool, which ends all processes of servers. */
export class ServerPool {
  readonly #options: ServerPoolOptions;
  readonly #servers = new Map<string, ManagedServer>();
  readonly #guard = new GroupGuard();
  readonly asking = new AskingCalls();
  #isClosed = false;

  constructor(options: ServerPoolOptions) {
    this.#options = options;
  }

  /** Finds a server, again for each use: unused servers are forgotten. Throws an `McpFailure` once the pool is closed. */
  find(address: ServerAddress, idleMs?: number): ManagedServer {
    if (this.#isClosed) throw stoppedFailure();
    const key = hashOf(address, idleMs);
    const known = this.#servers.get(key);
    if (known !== undefined) return known;
    this.#forgetIdle();
    const server = new ManagedServer(address, { ...this.#options, guard: this.#guard, idleMs });
    this.#servers.set(key, server);
    return server;
  }

  get servers(): readonly ManagedServer[] {
    return [...this.#servers.values()];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.servers.map((server) => server.close()));
    this.#servers.clear();
    this.#guard.close();
  }

  #forgetIdle(): void {
    for (const [key, server] of this.#servers) if (server.isForgettable) this.#servers.delete(key);
  }
}

/** The settings hold secrets, so it is the hash that is kept. */
function hashOf(address: ServerAddress, idleMs: number | undefined): string {
  const { name, way, protocol, roots, elicitation, sampling, connectTimeoutMs, tenantId } = address;
  const where = way.kind === "process" ? way : { ...way, url: way.url.href };
  const text = writeExact([name, where, protocol, roots, elicitation, sampling, connectTimeoutMs, tenantId, idleMs]);
  return createHash("sha256").update(text).digest("base64");
}
