import {
  type CallToolResult,
  Client,
  SSEClientTransport,
  type Tool,
  type Transport,
  type VersionNegotiationOptions,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../../core/json.ts";
import { createRedactor, type Redactor } from "../output/redact.ts";
import { boundedFetch, HttpTransport } from "./http-transport.ts";
import { stoppedFailure } from "./mcp-failure.ts";
import { ProcessTransport } from "./process-transport.ts";
import type { ServerAddress } from "./resolve-server.ts";
import { type ServerTool, toServerTool } from "./server-tool.ts";
import { type Trouble, toCallFailure, toConnectFailure } from "./to-mcp-failure.ts";

export interface ConnectionOptions {
  /** Of this program. */
  readonly version: string;
  readonly connectTimeoutMs: number;
  /** Aborts when nobody needs the connection any more. */
  readonly lifetime: AbortSignal;
}

export interface ServerCall {
  readonly tool: ServerTool;
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  /** Without progress for this long the call fails with `TIMEOUT`. */
  readonly idleTimeoutMs: number;
  readonly maxTotalMs: number;
  onProgress(progress: {
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  }): void;
}

/** How long an unknown first message may go unanswered before a process counts as one that needs the handshake. */
const PROBE_MS = 5_000;
const END_SESSION_MS = 1_000;

/** Connects; throws an `McpFailure` without any effect. */
export async function openConnection(address: ServerAddress, options: ConnectionOptions): Promise<Connection> {
  try {
    return await connect(address, options, toNegotiation(address));
  } catch (failure) {
    // Some older servers end at the first message that they do not know.
    if (address.protocol !== "auto" || address.way.kind !== "process" || options.lifetime.aborted) throw failure;
    return connect(address, options, { mode: "legacy" });
  }
}

async function connect(
  address: ServerAddress,
  options: ConnectionOptions,
  versionNegotiation: VersionNegotiationOptions,
): Promise<Connection> {
  if (options.lifetime.aborted) throw stoppedFailure();
  const transport = createTransport(address);
  const client = new Client({ name: "pawl", version: options.version }, { versionNegotiation });
  const connection = new Connection(address, client, transport);
  const giveUp = () => connection.close().catch(() => undefined);
  options.lifetime.addEventListener("abort", giveUp, { once: true });
  try {
    await client.connect(transport, { timeout: options.connectTimeoutMs });
    return connection;
  } catch (error) {
    // Looked at before closing, or every server would seem to have ended by itself.
    const failure = toConnectFailure(error, connection.trouble());
    await connection.close();
    throw failure;
  } finally {
    options.lifetime.removeEventListener("abort", giveUp);
  }
}

function createTransport({ way }: ServerAddress): Transport {
  if (way.kind === "process") return new ProcessTransport(way);
  if (way.kind === "http") return new HttpTransport(way);
  return new SSEClientTransport(way.url, { requestInit: { headers: { ...way.headers } }, fetch: boundedFetch });
}

function toNegotiation({ protocol, way }: ServerAddress): VersionNegotiationOptions {
  if (protocol === "legacy") return { mode: "legacy" };
  if (protocol === "2026-07-28") return { mode: { pin: protocol } };
  return { mode: "auto", ...(way.kind === "process" ? { probe: { timeoutMs: PROBE_MS } } : {}) };
}

/** One connection to a server, shared by all runs. */
export class Connection {
  readonly redactor: Redactor;
  readonly #address: ServerAddress;
  readonly #client: Client;
  readonly #transport: Transport;
  #tools: Promise<ReadonlyMap<string, Tool>> | undefined;
  #isClosed = false;

  constructor(address: ServerAddress, client: Client, transport: Transport) {
    this.redactor = createRedactor(address.secrets);
    this.#address = address;
    this.#client = client;
    this.#transport = transport;
    client.onclose = () => {
      this.#isClosed = true;
    };
    client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#tools = undefined;
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Asked for once, and again when the server says that they have changed. */
  async tools(): Promise<readonly ServerTool[]> {
    const tools = await this.#listed();
    return [...tools.values()].map((tool) => toServerTool(this.#address.name, tool));
  }

  forgetTools(): void {
    this.#tools = undefined;
  }

  /** Throws an `McpFailure` where there is no result. A tool's own error is a result. */
  async call(call: ServerCall, signal: AbortSignal): Promise<CallToolResult> {
    const listed = (await this.#listed()).get(call.tool.name);
    const params = { name: call.tool.name, arguments: { ...call.arguments }, _meta: { ...call.meta } };
    try {
      return await this.#client.callTool(params, {
        signal,
        timeout: call.idleTimeoutMs,
        maxTotalTimeout: call.maxTotalMs,
        resetTimeoutOnProgress: true,
        onprogress: call.onProgress,
        // Without its output schema: results are checked by whoever reads them, with a better message.
        ...(listed === undefined ? {} : { toolDefinition: { ...listed, outputSchema: undefined } }),
      });
    } catch (error) {
      throw toCallFailure(error, {
        ...this.trouble(),
        isAborted: signal.aborted,
        isRepeatable: call.tool.isRepeatable,
      });
    }
  }

  /** Leaves nothing behind: no session, no process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const transport = this.#transport;
    if (transport instanceof HttpTransport && transport.sessionId !== undefined) await endSession(transport);
    await transport.close();
  }

  trouble(): Trouble {
    const { name, way, secrets } = this.#address;
    if (!(this.#transport instanceof ProcessTransport))
      return { server: name, secrets, where: "url" in way ? way.url.origin : "" };
    const { ending, stderr } = this.#transport;
    return { server: name, secrets, said: stderr, ...(ending === undefined ? {} : { ending }) };
  }

  #listed(): Promise<ReadonlyMap<string, Tool>> {
    const listing = this.#tools ?? this.#list();
    this.#tools = listing;
    // What has failed is asked for again by the next one.
    listing.catch(() => {
      if (this.#tools === listing) this.#tools = undefined;
    });
    return listing;
  }

  async #list(): Promise<ReadonlyMap<string, Tool>> {
    try {
      const { tools } = await this.#client.listTools(undefined, { cacheMode: "refresh" });
      return new Map(tools.map((tool) => [tool.name, tool]));
    } catch (error) {
      throw toConnectFailure(error, this.trouble());
    }
  }
}

async function endSession(transport: HttpTransport): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, END_SESSION_MS).unref());
  // The server ends it later by itself.
  await Promise.race([transport.terminateSession().catch(() => undefined), late]);
}
