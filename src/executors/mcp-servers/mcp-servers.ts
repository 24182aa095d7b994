import { isInputRequiredResult } from "@modelcontextprotocol/client";
import { writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { describeCommand } from "../../core/trust/secret-names.ts";
import type { TaskQuestion } from "../../ports/executor.ts";
import type { CallMemory, ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { describeKnown, describeUnmatched } from "../output/near-names.ts";
import { createRedactor } from "../output/redact.ts";
import type { Asked, AskingCall } from "./asking/asking-calls.ts";
import { InputRounds, restsAtRound } from "./asking/input-rounds.ts";
import { Sampler } from "./asking/sampler.ts";
import type { ServerCall, ToolProgress } from "./connection.ts";
import type { ManagedServer } from "./managed-server.ts";
import { McpFailure, refusal, untilStopped } from "./mcp-failure.ts";
import { resolveServer, type ServerAddress, type Surroundings } from "./resolve-server.ts";
import { closedAfterChange, fits, isToolAllowed, type ServerEntry, type ToolFilter } from "./server-entry.ts";
import type { ServerPool } from "./server-pool.ts";
import { checkDepth, type ServerTool, type ToolAnswer, type ToolList } from "./server-tool.ts";

export interface McpServersOptions extends Surroundings {
  /** Asked for when a server is first needed. */
  entries(): Promise<ReadonlyMap<string, ServerEntry>>;
  /** Connects them. The caller closes it. */
  readonly pool: ServerPool;
  /** The longest silence of a call, unless the server's entry sets one. */
  readonly timeoutMs: number;
  /** An unused server is disconnected after this time. Absent: when the pool closes. */
  readonly idleMs?: number;
  /** Asks models for servers that may have that. Absent: none is asked. */
  readonly generate?: Generate;
}

export interface ToolRequest {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** For the server, beside the arguments. */
  readonly meta?: JsonObject;
  /** The step's time-out. It replaces those of the configuration. */
  readonly timeoutMs?: number | undefined;
  /** Asks models for the server. Absent: as the servers do. */
  readonly generate?: Generate | undefined;
  /** Looks at the call before it is made; what it throws is thrown. */
  check?(tool: ServerTool): Promise<void>;
  onProgress?(progress: Parameters<ServerCall["onProgress"]>[0]): void;
}

/** For a tool that goes on saying that it makes progress. */
const MAX_TOTAL_MS = 60 * 60_000;

/** Some configured MCP servers, by the names that they have there. Every method throws an `McpFailure`. */
export class McpServers {
  readonly #options: McpServersOptions;
  readonly #addresses = new Map<string, ServerAddress>();
  #entries: Promise<ReadonlyMap<string, ServerEntry>> | undefined;

  constructor(options: McpServersOptions) {
    this.#options = options;
  }

  async names(): Promise<readonly string[]> {
    return [...(await this.entries()).keys()];
  }

  /** The entries in the order of the configuration. Throws `CONFIG_INVALID`. */
  async entries(): Promise<ReadonlyMap<string, ServerEntry>> {
    this.#entries ??= this.#options.entries();
    try {
      return await this.#entries;
    } catch (error) {
      // The file may be corrected: the next call reads it again.
      this.#entries = undefined;
      throw error;
    }
  }

  /** The tools of a server that its entry does not switch off. Throws `TOOL_GUARD_IDLE` where the entry would switch off what is not there. */
  async list(server: string, signal: AbortSignal): Promise<ToolList> {
    return await this.#listTools(server, signal);
  }

  /** Calls a tool once. A tool's own error is an answer; `INTERRUPTED` once `signal` has aborted. Its server can ask nobody. */
  async call(request: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    return await this.#call(request, undefined, signal);
  }

  /** The same, where a person can be asked: the call goes on when it is made again and the answer is on record. */
  async callAsking(request: ToolRequest & Asked, signal: AbortSignal): Promise<ToolAnswer | TaskQuestion> {
    const begin = (asking: AskingCall, until: AbortSignal) => this.#call(request, asking, until);
    return await this.#options.pool.asking.call(request, begin, signal);
  }

  /** A call that was begun goes on where it was: it waits for a person, or has said how. */
  async rests(memory: CallMemory): Promise<boolean> {
    return this.#options.pool.asking.has(memory) || (await restsAtRound(memory));
  }

  /** Nothing waits for a person any more. */
  endRun(runId: string): void {
    this.#options.pool.asking.endRun(runId);
  }

  async #call(request: ToolRequest, asking: AskingCall | undefined, signal: AbortSignal): Promise<ToolAnswer> {
    const tool = await this.findTool(request, signal);
    await request.check?.(tool);
    const managed = await this.find(request.server);
    const { settings } = await this.#entryOf(request.server);
    const configured = "problem" in settings ? undefined : (settings.timeout_ms ?? settings.timeout);
    const { timeoutMs } = request;
    const call: ServerCall = {
      tool,
      arguments: request.arguments,
      meta: request.meta ?? {},
      idleTimeoutMs: timeoutMs ?? configured ?? this.#options.timeoutMs,
      maxTotalMs: timeoutMs ?? MAX_TOTAL_MS,
      onProgress: limitProgress((progress) => request.onProgress?.(progress)),
    };
    return await managed.use(async (connection) => {
      const { redactor } = connection;
      const asker = { server: tool.server, tool: tool.name, redactor };
      const { elicitation, sampling: settings } = managed.address;
      const generate = request.generate ?? this.#options.generate;
      const sampler = settings && generate && asking && new Sampler({ settings, asker, generate, asking, signal });
      const told = { roots: connection.roots, elicits: elicitation === "ask", sampler };
      const rounds = new InputRounds({ asker, memory: asking?.memory, ...told });
      const onAsked = asking && ((params: Json | undefined) => asking.wait(params, asker));
      const onSampled = sampler && asking && ((params: Json | undefined) => asking.sample(params, sampler));
      let answered = await rounds.resume();
      let result = await connection.call({ ...call, answered, onAsked, onSampled }, signal);
      while (isInputRequiredResult(result)) {
        answered = await rounds.answer(result);
        result = await connection.call({ ...call, answered, onAsked, onSampled }, signal);
      }
      // For want of a model's answer: that is why.
      if (result.isError === true && sampler?.failure !== undefined) throw sampler.failure;
      checkDepth(tool, result);
      return { tool, result, warnings: connection.warnings, redactor };
    }, signal);
  }

  /** Throws `MCP_TOOL_UNKNOWN`, `MCP_TOOL_NOT_ALLOWED`, and where the server cannot be asked what the connection throws. */
  async findTool({ server, tool }: Pick<ToolRequest, "server" | "tool">, signal: AbortSignal): Promise<ServerTool> {
    const { settings } = await this.#entryOf(server);
    if (!("problem" in settings) && !isToolAllowed(settings.tools ?? {}, tool))
      throw refusal("MCP_TOOL_NOT_ALLOWED", `The tool \`${tool}\` of the MCP server "${server}" is switched off.`);
    const { tools: offered } = await this.#listTools(server, signal);
    const found = offered.find(({ name }) => name === tool);
    if (found !== undefined) return found;
    // Not every server says when its tools have changed.
    const { tools, warnings } = await this.#listTools(server, signal, "again");
    const late = tools.find(({ name }) => name === tool);
    if (late !== undefined) return late;
    const names = tools.map(({ name }) => name);
    const leftOut = warnings.find((warning) => warning.includes(writeExact(tool)));
    const hint =
      leftOut === undefined ? describeKnown(tool, names) : `As the server offers it, it cannot be used: ${leftOut}.`;
    throw refusal("MCP_TOOL_UNKNOWN", `The MCP server "${server}" has no tool \`${tool}\`. ${hint}`);
  }

  /** Finds a server in the pool. Throws `MCP_SERVER_UNKNOWN`, `MCP_SERVER_INVALID`. */
  async find(server: string): Promise<ManagedServer> {
    const entry = await this.#entryOf(server);
    const address = this.#addresses.get(server) ?? resolveServer(server, entry, this.#options);
    this.#addresses.set(server, address);
    return this.#options.pool.find(address, this.#options.idleMs);
  }

  async #listTools(server: string, signal: AbortSignal, how?: "again"): Promise<ToolList> {
    const { settings } = await this.#entryOf(server);
    const listing = (await this.find(server)).list(how);
    const list = await untilStopped(listing, signal, `: the MCP server "${server}" had not said which tools it has`);
    return holdToFilter(server, list, "problem" in settings ? { allow: [] } : (settings.tools ?? {}));
  }

  async #entryOf(server: string): Promise<ServerEntry> {
    const entries = await this.entries();
    const entry = entries.get(server);
    if (entry !== undefined) return entry;
    const hint = describeKnown(server, [...entries.keys()]);
    throw refusal("MCP_SERVER_UNKNOWN", `No MCP server is called "${server}". ${hint}`);
  }
}

/** What a server's entry leaves of its tools, as they are now. */
function holdToFilter(server: string, list: ToolList, filter: ToolFilter): ToolList {
  const { allow = [], deny = [] } = filter;
  const known = list.tools.map(({ name }) => name);
  const unmatched = (key: "allow" | "deny") => {
    const matches = (pattern: string) => known.some((name) => fits(pattern, name));
    return describeUnmatched(filter[key] ?? [], { key, of: `the MCP server "${server}"`, known: () => known, matches });
  };
  const [idle] = unmatched("deny");
  if (idle !== undefined && known.length > 0) throw refusal("TOOL_GUARD_IDLE", idle);
  const closed = closedAfterChange(list.changed, { forbids: deny, allows: allow });
  const tools = list.tools.filter(({ name }) => isToolAllowed(filter, name) && !closed.includes(name));
  const idleNames = unmatched("allow").map((warning) => warning.replace(/[.?]$/, ""));
  return { ...list, tools, warnings: [...list.warnings, ...idleNames, ...closed.map(describeClosed)] };
}

export function describeClosed(tool: string): string {
  return `its tool ${writeExact(tool)} is closed: it came when one that a rule holds back was gone, and no rule names it`;
}

const MAX_MESSAGE_CHARS = 500;
/** So many at once, and then so many each second: what is shown to people does not need more. */
const BURST = 50;
const PER_SECOND = 10;

/** Passes progress on, but never a flood of it. What is left out is lost: the next one tells more. */
function limitProgress(hear: (progress: ToolProgress) => void): (progress: ToolProgress) => void {
  let allowed = BURST;
  let countedAt = performance.now();
  return ({ progress, total, message }) => {
    const now = performance.now();
    allowed = Math.min(BURST, allowed + ((now - countedAt) / 1_000) * PER_SECOND);
    countedAt = now;
    if (allowed < 1) return;
    allowed -= 1;
    hear({ progress, total, message: message?.slice(0, MAX_MESSAGE_CHARS) });
  };
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
