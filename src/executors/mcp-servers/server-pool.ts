import { createHash } from "node:crypto";
import { writeExact } from "../../core/exact-json.ts";
import { describeCommand } from "../../core/trust/secret-names.ts";
import type { ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import { createRedactor } from "../output/redact.ts";
import { type ManagedOptions, ManagedServer } from "./managed-server.ts";
import { McpFailure, stoppedFailure } from "./mcp-failure.ts";
import type { McpServers } from "./mcp-servers.ts";
import type { ServerAddress } from "./resolve-server.ts";
import { GroupGuard } from "./transports/group-guard.ts";

export interface ServerPoolOptions extends Omit<ManagedOptions, "guard" | "idleMs"> {}

/** Servers by the hash of their settings: equal settings share a connection. The creator closes the pool, which ends all processes of servers. */
export class ServerPool {
  readonly #options: ServerPoolOptions;
  readonly #servers = new Map<string, ManagedServer>();
  readonly #guard = new GroupGuard();
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
  const { name, way, protocol, roots, connectTimeoutMs, tenantId } = address;
  const where = way.kind === "process" ? way : { ...way, url: way.url.href };
  const text = writeExact([name, where, protocol, roots, connectTimeoutMs, tenantId, idleMs]);
  return createHash("sha256").update(text).digest("base64");
}

/** The application's own servers in their order, then those of definitions that are known now. Nothing is connected. */
export async function listServerStates(own: McpServers, pool: ServerPool): Promise<readonly ToolServerState[]> {
  const states: ToolServerState[] = [];
  const listed = new Set<ManagedServer>();
  for (const [server, { origin }] of await entriesOf(own, states)) {
    try {
      const managed = await own.find(server);
      listed.add(managed);
      states.push(toState(managed));
    } catch (failure) {
      if (!(failure instanceof McpFailure)) throw failure;
      states.push(invalid(server, origin, failure));
    }
  }
  return [...states, ...pool.servers.filter((managed) => !listed.has(managed)).map(toState)];
}

/** A file that cannot be read stands for the servers in it. */
async function entriesOf(own: McpServers, states: ToolServerState[]): ReturnType<McpServers["entries"]> {
  try {
    return await own.entries();
  } catch (failure) {
    states.push(invalid("*", "the configuration", failure));
    return new Map();
  }
}

function invalid(server: string, origin: string, failure: unknown): ToolServerState {
  const lastFailure = failure instanceof Error ? failure.message : String(failure);
  return { server, origin, transport: "unknown", state: "invalid", callsInFlight: 0, restarts: 0, lastFailure };
}

function toState({ address, state }: ManagedServer): ToolServerState {
  const { name, origin, way } = address;
  const transport = way.kind === "process" ? "stdio" : way.kind;
  return { server: name, origin, transport, reached: describeWay(address), ...state };
}

/** An address says who calls in its name and its query. */
function describeWay({ way, secrets }: ServerAddress): string {
  const written =
    way.kind === "process" ? describeCommand([way.command, ...way.args]) : way.url.origin + way.url.pathname;
  return createRedactor(secrets).text(written);
}
