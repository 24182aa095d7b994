import { setTimeout as sleep } from "node:timers/promises";
import type { ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import type { Connection, ConnectionOptions } from "./connection.ts";
import { McpFailure, stoppedFailure, untilStopped } from "./mcp-failure.ts";
import type { ServerAddress } from "./resolve-server.ts";
import { describeTool, type ToolList } from "./server-tool.ts";

export interface ManagedOptions extends Omit<ConnectionOptions, "lifetime"> {
  /** While it is connected, and was used since the last time, it is asked so often whether it is alive. */
  readonly pingIntervalMs: number;
  /** Default 10,000. */
  readonly pingTimeoutMs?: number;
  /** Closed when it was unused for so long. Absent: never. */
  readonly idleMs?: number;
}

/** The state of a server but for what stands in its entry, which has been read. */
type ManagedState = Omit<ToolServerState, "server" | "origin" | "transport" | "reached" | "state"> & {
  readonly state: Exclude<ToolServerState["state"], "invalid">;
};

/** A connection that lived this long counts as one that worked, whatever ended it. */
const STABLE_MS = 10_000;
const PING_TIMEOUT_MS = 10_000;
/** A call waits at most this long for the next connection, unless the server can start. If that is later, it fails at once with the last reason. */
const MAX_WAIT_MS = 2_000;

/** One server: connected on demand, pinged, reconnected ever more slowly after failures, and closed when unused. All users share the connection. */
export class ManagedServer {
  readonly address: ServerAddress;
  readonly #options: ManagedOptions;
  readonly #lifetime = new AbortController();
  /** Connections on their way out. */
  readonly #closing = new Set<Promise<void>>();
  #opening: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #connectedAt = 0;
  #usedAt = performance.now();
  #pingedAt = performance.now();
  #holds = 0;
  #callsInFlight = 0;
  #failuresInARow = 0;
  #nextTryAt = 0;
  #lastFailure: McpFailure | undefined;
  /** The last failure was the death of a server that can start. */
  #hasDied = false;
  #connections = 0;
  #tools: ToolServerState["tools"];
  /** The names that it had when it was first asked. */
  #firstNames: readonly string[] | undefined;
  #watch: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;

  constructor(address: ServerAddress, options: ManagedOptions) {
    this.address = address;
    this.#options = options;
  }

  /** Nothing of it is left to keep: neither a user nor a failure to remember. */
  get isForgettable(): boolean {
    const isUsed = this.#holds > 0 || this.#callsInFlight > 0 || this.#opening !== undefined || this.#closing.size > 0;
    const { idleMs } = this.#options;
    return !isUsed && idleMs !== undefined && performance.now() - this.#usedAt >= idleMs;
  }

  get state(): ManagedState {
    const failure = this.#lastFailure;
    const isWaiting = this.#opening === undefined && this.#nextTryAt > performance.now();
    return {
      state: this.#stateNow(isWaiting),
      ...(this.#tools === undefined || this.#connection === undefined ? {} : { tools: this.#tools }),
      callsInFlight: this.#callsInFlight,
      restarts: Math.max(0, this.#connections - 1),
      ...(failure === undefined ? {} : { lastFailure: failure.message }),
      wantsLogin: this.#connection === undefined && failure?.failed.code === "MCP_LOGIN_NEEDED",
      ...(isWaiting ? { nextTryAt: Math.round(Date.now() + this.#nextTryAt - performance.now()) } : {}),
    };
  }

  /** Uses the connection, which stays open meanwhile; `signal` ends waiting for it. Throws an `McpFailure`. */
  async use<Value>(work: (connection: Connection) => Promise<Value>, signal: AbortSignal): Promise<Value> {
    this.#callsInFlight += 1;
    try {
      return await this.#useOnce(work, signal);
    } catch (failure) {
      if (!(failure instanceof McpFailure) || !failure.hasLostSession) throw failure;
      // The server has not looked at it.
      return await this.#useOnce(work, signal);
    } finally {
      this.#callsInFlight -= 1;
      this.#usedAt = performance.now();
    }
  }

  /** Its tools, as it has said; `again` asks it once more. Throws an `McpFailure`. */
  async list(how?: "again"): Promise<ToolList> {
    return await this.use(async (connection) => {
      if (how === "again") connection.forgetTools();
      const list = await connection.list();
      this.#tools = list.tools.map((tool) => ({ name: tool.name, description: describeTool(tool) }));
      const names = list.tools.map(({ name }) => name);
      const first = this.#firstNames ?? names;
      this.#firstNames = first;
      const [gone, late] = [without(first, names), without(names, first)];
      return gone.length + late.length === 0 ? list : { ...list, changed: { gone, late } };
    }, this.#lifetime.signal);
  }

  /** Connects now, and again whenever it is lost, until the release. */
  hold(): () => void {
    this.#holds += 1;
    this.#keepConnected();
    let isHeld = true;
    return () => {
      if (isHeld) this.#holds -= 1;
      isHeld = false;
    };
  }

  /** Nothing is connected or connecting after this. */
  async close(): Promise<void> {
    this.#lifetime.abort();
    clearTimeout(this.#restart);
    this.#disconnect();
    await Promise.all(this.#closing);
  }

  /** Closes the connection; the next one who needs the server gets a new one. */
  #disconnect(): void {
    clearInterval(this.#watch);
    const opening = this.#opening;
    this.#opening = undefined;
    this.#connection = undefined;
    if (opening === undefined) return;
    const closing = opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
    const left = closing.catch(() => undefined).finally(() => this.#closing.delete(left));
    this.#closing.add(left);
  }

  async #useOnce<Value>(work: (connection: Connection) => Promise<Value>, signal: AbortSignal): Promise<Value> {
    const connection = await untilStopped(this.#connect(), signal);
    try {
      const value = await work(connection);
      if (this.#connection === connection) this.#failuresInARow = 0;
      return value;
    } catch (failure) {
      if (failure instanceof McpFailure) this.#reactTo(failure, connection);
      throw failure;
    }
  }

  /** A connection over HTTP is not lost with its server, so what calls come back with tells. */
  #reactTo(failure: McpFailure, connection: Connection): void {
    if (this.#connection !== connection) return;
    const isGone = failure.failed.code === "MCP_UNREACHABLE" && failure.failed.effect === "none";
    if (failure.hasLostSession) this.#disconnect();
    else if (isGone && failure.failed.retryable) this.#lose(failure);
  }

  #connect(): Promise<Connection> {
    if (this.#lifetime.signal.aborted) return Promise.reject(stoppedFailure());
    if (this.#opening !== undefined) return this.#opening;
    const waitMs = this.#nextTryAt - performance.now();
    if (waitMs > MAX_WAIT_MS && !this.#hasDied) return Promise.reject(this.#tooEarly(waitMs));
    this.#opening = this.#open(waitMs);
    return this.#opening;
  }

  async #open(waitMs: number): Promise<Connection> {
    const { signal } = this.#lifetime;
    try {
      if (waitMs > 0) await untilStopped(sleep(waitMs, undefined, { signal }), signal);
      const { openConnection } = await import("./connection.ts");
      const connection = await openConnection(this.address, { ...this.#options, lifetime: signal });
      this.#connected(connection);
      return connection;
    } catch (error) {
      this.#opening = undefined;
      if (error instanceof McpFailure && !signal.aborted) this.#recordFailure(error);
      throw error;
    }
  }

  #connected(connection: Connection): void {
    this.#connection = connection;
    this.#connections += 1;
    this.#connectedAt = performance.now();
    this.#usedAt = this.#connectedAt;
    this.#pingedAt = this.#connectedAt;
    this.#startChecks();
    connection.onLost(() => {
      if (this.#connection !== connection) return;
      this.#lose(connection.lost());
      this.#hasDied = connection.hasDied;
    });
  }

  #lose(failure: McpFailure): void {
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#failuresInARow = 0;
    this.#disconnect();
    this.#recordFailure(failure);
  }

  #recordFailure(failure: McpFailure): void {
    this.#lastFailure = failure;
    // A person may log in at any time, and no server is kept busy by being asked.
    if (failure.failed.code === "MCP_LOGIN_NEEDED") return;
    this.#hasDied = failure.failed.workerDied === true;
    this.#failuresInARow += 1;
    this.#nextTryAt = performance.now() + computeRestartDelayMs(this.#failuresInARow, Math.random());
    this.#keepConnected();
  }

  /** Reconnects a server that is held. Others connect when they are used next. */
  #keepConnected(): void {
    clearTimeout(this.#restart);
    if (this.#holds === 0 || this.#lifetime.signal.aborted) return;
    const delayMs = Math.max(0, this.#nextTryAt - performance.now());
    // Also where trying does not help: a person may mend it at any time.
    this.#restart = setTimeout(() => {
      if (this.#holds > 0) this.#connect().catch(() => undefined);
    }, delayMs).unref();
  }

  #startChecks(): void {
    clearInterval(this.#watch);
    const { pingIntervalMs, idleMs = pingIntervalMs } = this.#options;
    this.#watch = setInterval(() => this.#check(), Math.min(pingIntervalMs, idleMs)).unref();
  }

  /** A server that works on something may be too busy to answer; the call's own time-out watches over it. */
  #check(): void {
    const now = performance.now();
    if (this.#callsInFlight > 0 || this.#connection === undefined) return;
    const { idleMs, pingIntervalMs } = this.#options;
    const isUnused = this.#holds === 0 && idleMs !== undefined && now - this.#usedAt >= idleMs;
    if (isUnused) {
      this.#disconnect();
      return;
    }
    const isWorthIt = this.#holds > 0 || this.#usedAt > this.#pingedAt;
    if (isWorthIt && now - this.#pingedAt >= pingIntervalMs) this.#ping(this.#connection);
  }

  #ping(connection: Connection): void {
    this.#pingedAt = performance.now();
    connection.ping(this.#options.pingTimeoutMs ?? PING_TIMEOUT_MS).catch((failure: unknown) => {
      const isCurrent = this.#connection === connection && this.#callsInFlight === 0;
      if (isCurrent && failure instanceof McpFailure) this.#lose(failure);
    });
  }

  #stateNow(isWaiting: boolean): ManagedState["state"] {
    if (this.#connection !== undefined) return "ready";
    if (this.#opening !== undefined) return "connecting";
    if (isWaiting) return "waiting";
    return this.#failuresInARow > 0 ? "failed" : "off";
  }

  #tooEarly(waitMs: number): McpFailure {
    const { failed, message } = this.#lastFailure ?? stoppedFailure();
    const seconds = Math.ceil(waitMs / 1_000);
    const times = this.#failuresInARow;
    return new McpFailure(failed.code === "MCP_UNREACHABLE" ? "MCP_UNREACHABLE" : "MCP_SERVER_FAILED", {
      message: `${message}\nIt has failed ${times} times in a row and is tried again in ${seconds} s.`,
      retryable: true,
      effect: "none",
    });
  }
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return names.filter((name) => !known.has(name));
}

const FIRST_MS = 250;
const MAX_MS = 30_000;

/** The delay before the next connection: none after the first failure, then doubling up to half a minute, minus up to half by `chance` (0 to 1). */
export function computeRestartDelayMs(failures: number, chance: number): number {
  if (failures <= 1) return 0;
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(failures - 2, 16));
  return Math.round(full * (1 - chance / 2));
}
