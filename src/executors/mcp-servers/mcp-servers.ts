import type { CallToolResult } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../core/json.ts";
import { describeKnown } from "../output/near-names.ts";
import type { Redactor } from "../output/redact.ts";
import type { Connection, ServerCall } from "./connection.ts";
import { McpFailure, stoppedFailure } from "./mcp-failure.ts";
import { resolveServer, type Surroundings } from "./resolve-server.ts";
import { isToolAllowed, type ServerEntry } from "./server-entry.ts";
import type { ServerTool } from "./server-tool.ts";

export interface McpServersOptions extends Surroundings {
  /** Asked for when a server is first needed. */
  entries(): Promise<ReadonlyMap<string, ServerEntry>>;
  /** Of this program; servers are told. */
  readonly version: string;
  /** How long a call may go without a sign of life, where the server's entry does not say. */
  readonly timeoutMs: number;
  /** Default 30,000. */
  readonly connectTimeoutMs?: number;
}

export interface ToolRequest {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** For the server, beside the arguments. */
  readonly meta?: JsonObject;
  /** Of the step: it replaces the time-outs of the configuration. */
  readonly timeoutMs?: number | undefined;
  /** Looks at the call before it is made; what it throws is thrown. */
  check?(tool: ServerTool): Promise<void>;
  onProgress?(progress: Parameters<ServerCall["onProgress"]>[0]): void;
}

export interface ToolAnswer {
  readonly tool: ServerTool;
  readonly result: CallToolResult;
  /** Knows the secrets that the server was given. */
  readonly redactor: Redactor;
}

interface Slot {
  readonly opening: Promise<Connection>;
  connection?: Connection;
}

const CONNECT_TIMEOUT_MS = 30_000;
/** For a tool that goes on saying that it makes progress. */
const MAX_TOTAL_MS = 60 * 60_000;

/**
 * The configured MCP servers: connected when first needed, one connection each for all runs, and again after it was
 * lost. Every method throws an `McpFailure`. Whoever made it closes it; then no process of a server is left.
 */
export class McpServers {
  readonly #options: McpServersOptions;
  readonly #lifetime = new AbortController();
  readonly #slots = new Map<string, Slot>();
  /** Connections that nobody uses any more and that are on their way out. */
  readonly #leaving = new Set<Promise<void>>();
  #entries: Promise<ReadonlyMap<string, ServerEntry>> | undefined;

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  async names(): Promise<readonly string[]> {
    return [...(await this.#known()).keys()];
  }

  /** The tools of a server that its entry does not switch off. */
  async tools(server: string, signal: AbortSignal): Promise<readonly ServerTool[]> {
    const { settings } = await this.#entryOf(server);
    const tools = await untilAborted(this.#listTools(server), signal);
    return "problem" in settings ? [] : tools.filter(({ name }) => isToolAllowed(settings.tools ?? {}, name));
  }

  /** Calls a tool once. A tool's own error is an answer; `INTERRUPTED` once `signal` has aborted. */
  async call(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    try {
      return await this.#callOnce(request, signal);
    } catch (failure) {
      if (!(failure instanceof McpFailure) || !failure.hasLostSession) throw failure;
      this.#leave(request.server);
      return await this.#callOnce(request, signal);
    }
  }

  /** Nothing is connected or connecting after this. */
  async close(): Promise<void> {
    this.#lifetime.abort();
    for (const server of this.#slots.keys()) this.#leave(server);
    await Promise.all(this.#leaving);
  }

  async #callOnce(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const tool = await this.#findTool(request, signal);
    await request.check?.(tool);
    const connection = await untilAborted(this.#connect(request.server), signal);
    const { settings } = await this.#entryOf(request.server);
    const configured = "problem" in settings ? undefined : settings.timeout;
    const { timeoutMs } = request;
    const call: ServerCall = {
      tool,
      arguments: request.arguments,
      meta: request.meta ?? {},
      idleTimeoutMs: timeoutMs ?? configured ?? this.#options.timeoutMs,
      maxTotalMs: timeoutMs ?? MAX_TOTAL_MS,
      onProgress: (progress) => request.onProgress?.(progress),
    };
    return { tool, result: await connection.call(call, signal), redactor: connection.redactor };
  }

  async #findTool({ server, tool }: ToolRequest, signal: AbortSignal): Promise<ServerTool> {
    const { settings } = await this.#entryOf(server);
    if (!("problem" in settings) && !isToolAllowed(settings.tools ?? {}, tool)) {
      throw refusal("MCP_TOOL_NOT_ALLOWED", `The tool \`${tool}\` of the MCP server "${server}" is switched off.`);
    }
    const offered = await untilAborted(this.#listTools(server), signal);
    const found =
      offered.find(({ name }) => name === tool) ??
      (await untilAborted(this.#lookAgain(server), signal)).find(({ name }) => name === tool);
    if (found !== undefined) return found;
    const hint = describeKnown(
      tool,
      offered.map(({ name }) => name),
    );
    throw refusal("MCP_TOOL_UNKNOWN", `The MCP server "${server}" has no tool \`${tool}\`. ${hint}`);
  }

  async #listTools(server: string): Promise<readonly ServerTool[]> {
    return (await this.#connect(server)).tools();
  }

  /** Not every server says when its tools have changed. */
  async #lookAgain(server: string): Promise<readonly ServerTool[]> {
    const connection = await this.#connect(server);
    connection.forgetTools();
    return connection.tools();
  }

  #connect(server: string): Promise<Connection> {
    if (this.#lifetime.signal.aborted) return Promise.reject(stoppedFailure());
    const known = this.#slots.get(server);
    if (known !== undefined && known.connection?.isClosed !== true) return known.opening;
    this.#leave(server);
    const slot: Slot = { opening: this.#open(server) };
    this.#slots.set(server, slot);
    slot.opening.then(
      (connection) => {
        slot.connection = connection;
      },
      () => {
        if (this.#slots.get(server) === slot) this.#slots.delete(server);
      },
    );
    return slot.opening;
  }

  async #open(server: string): Promise<Connection> {
    const address = resolveServer(server, await this.#entryOf(server), this.#options);
    const { openConnection } = await import("./connection.ts");
    const { version, connectTimeoutMs = CONNECT_TIMEOUT_MS } = this.#options;
    return openConnection(address, { version, connectTimeoutMs, lifetime: this.#lifetime.signal });
  }

  #leave(server: string): void {
    const slot = this.#slots.get(server);
    this.#slots.delete(server);
    if (slot === undefined) return;
    const leaving = slot.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
    const left = leaving.catch(() => undefined).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async #entryOf(server: string): Promise<ServerEntry> {
    const entries = await this.#known();
    const entry = entries.get(server);
    if (entry !== undefined) return entry;
    const hint = describeKnown(server, [...entries.keys()]);
    throw refusal("MCP_SERVER_UNKNOWN", `No MCP server is called "${server}". ${hint}`);
  }

  async #known(): Promise<ReadonlyMap<string, ServerEntry>> {
    this.#entries ??= this.#options.entries();
    try {
      return await this.#entries;
    } catch (error) {
      // Somebody corrects the file: the next call reads it again.
      this.#entries = undefined;
      throw error;
    }
  }
}

function refusal(
  code: "MCP_SERVER_UNKNOWN" | "MCP_TOOL_UNKNOWN" | "MCP_TOOL_NOT_ALLOWED",
  message: string,
): McpFailure {
  return new McpFailure(code, { message, retryable: false, effect: "none" });
}

/** Waits no longer than the caller; what is waited for goes on for others. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  // Whoever waits no longer does not hear of its failure.
  promise.catch(() => undefined);
  if (signal.aborted) throw stoppedFailure();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(stoppedFailure());
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
