import { BoundedMap } from "../../../core/bounded-map.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { type Lack, remedyFor, wantsOfServer } from "../../../core/trust/check-grant.ts";
import { allows, EVERYTHING } from "../../../core/trust/grant.ts";
import type {
  AgentTool,
  AgentToolbox,
  AgentToolCall,
  CallMemory,
  MissingServer,
  ServerInstructions,
  ToolboxOffer,
  ToolboxRequest,
  ToolCallResult,
  ToolServerState,
} from "../../../ports/tools/agent-toolbox.ts";
import type { JsonSchemas } from "../../../schemas/json-schemas.ts";
import { toRefused } from "../../output/failure.ts";
import { describeKnown } from "../../output/near-names.ts";
import { listViolations } from "../../output/violations.ts";
import { AsksPerson } from "../asking/asking-calls.ts";
import { McpFailure, refusal } from "../mcp-failure.ts";
import { describeClosed, listServerStates, type McpServers, type ToolRequest } from "../mcp-servers.ts";
import { closedAfterChange, fits } from "../server-entry.ts";
import type { ServerPool } from "../server-pool.ts";
import {
  checkArguments,
  describeContent,
  describeTool,
  findResultFlaws,
  keepUsable,
  type ServerTool,
  type ToolAnswer,
} from "../server-tool.ts";
import { findChange, pinTool } from "./find-change.ts";
import { nameTools, toAliases } from "./name-tools.ts";

type Pinned = Pick<ToolboxRequest, "servers" | "folder" | "reach" | "tenantId">;

export interface ToolboxOptions {
  readonly own: McpServers;
  /** Connects all of them. The caller closes it. */
  readonly pool: ServerPool;
  readPinned(servers: JsonObject, around: Omit<Pinned, "servers">): McpServers;
  readonly validators: JsonSchemas;
}

/** Sets of pinned servers that are cached. */
const MAX_SETS = 100;

/** The tools of MCP servers for agents: named, filtered, and called without a throw. */
export class McpToolbox implements AgentToolbox {
  readonly #options: ToolboxOptions;
  readonly #sets = new BoundedMap<string, McpServers>(MAX_SETS);
  readonly #held = new Map<string, Promise<Releases>>();

  constructor(options: ToolboxOptions) {
    this.#options = options;
  }

  async offer(wanted: ToolboxRequest, signal: AbortSignal): Promise<ToolboxOffer> {
    const servers = this.#setOf(wanted);
    const { known, missing } = holdToGrant(await chooseServers(servers, wanted.clients), wanted);
    const { exclude: excluded = [] } = wanted;
    const listed = await Promise.all(known.map((server) => this.#list(servers, { server, excluded }, signal)));
    const tools = listed.flatMap(({ tools }) => tools);
    const names = nameTools(tools.map(({ tool: { server, name }, weight }) => ({ server, weight, tool: name })));
    const idle = new Set([...excluded, ...tools.flatMap(({ exclude }) => exclude)]);
    const offered = tools.flatMap(({ tool, exclude, isClosed }, index) => {
      const { name, aliases } = names[index] ?? { name: "", aliases: [] };
      const written = [tool.name, ...aliases];
      const excluding = [...exclude, ...excluded].filter((pattern) => written.some((each) => fits(pattern, each)));
      for (const pattern of excluding) idle.delete(pattern);
      return excluding.length > 0 || isClosed ? [] : [this.#toAgentTool(servers, tool, { name, aliases })];
    });
    return {
      tools: offered,
      missing: [...missing, ...listed.flatMap(({ missing }) => missing)],
      idle: [...idle],
      warnings: listed.flatMap(({ warnings }) => warnings),
      instructions: listed.flatMap(({ instructions }) => instructions ?? []),
    };
  }

  hold(holder: string, wanted: Pick<ToolboxRequest, "servers" | "folder">): void {
    const before = this.#held.get(holder);
    this.#held.set(holder, this.#holdInstead(this.#setOf(wanted), before));
  }

  async endRun(runId: string): Promise<void> {
    this.#options.pool.asking.endRun(runId);
  }

  states(): Promise<readonly ToolServerState[]> {
    return listServerStates(this.#options.own, this.#options.pool);
  }

  /** Never rejects. What both mean is held all the time. */
  async #holdInstead(servers: McpServers, before: Promise<Releases> | undefined): Promise<Releases> {
    const releases = await this.#holdEager(servers);
    for (const release of (await before) ?? []) release();
    return releases;
  }

  async #holdEager(servers: McpServers): Promise<Releases> {
    const entries = await servers.entries().catch(() => new Map<string, never>());
    const releases: (() => void)[] = [];
    for (const [server, { settings }] of entries) {
      if ("problem" in settings || settings.start !== "eager") continue;
      // One that cannot be used is told of where servers are listed.
      const managed = await servers.find(server).catch(() => undefined);
      if (managed !== undefined) releases.push(managed.hold());
    }
    return releases;
  }

  /** A definition's servers are read once, not for every agent that asks. */
  #setOf({ servers, folder, reach, tenantId }: Pinned): McpServers {
    if (servers === undefined) return this.#options.own;
    const key = writeExact([folder ?? null, reach ?? null, tenantId ?? null, servers]);
    const known = this.#sets.get(key) ?? this.#options.readPinned(servers, { folder, reach, tenantId });
    this.#sets.set(key, known);
    return known;
  }

  async #list(
    servers: McpServers,
    { server, excluded }: { readonly server: string; readonly excluded: readonly string[] },
    signal: AbortSignal,
  ): Promise<ListedServer> {
    const { settings } = (await servers.entries()).get(server) ?? { settings: { problem: "it is gone" } };
    try {
      const { routing_weight: weight = 1, exclude = [] } = "problem" in settings ? {} : settings;
      const list = await servers.list(server, signal);
      const { tools, warnings } = await keepUsable(list, this.#options.validators);
      const namesOf = (tool: string) => [tool, ...toAliases({ server, tool })];
      const closed = closedAfterChange(list.changed, { forbids: [...exclude, ...excluded] }, namesOf);
      return {
        tools: tools.map((tool) => ({ tool, weight, exclude, isClosed: closed.includes(tool.name) })),
        missing: [],
        warnings: [...warnings, ...closed.map(describeClosed)].map((each) => `The MCP server "${server}": ${each}.`),
        ...(list.instructions === undefined ? {} : { instructions: { server, text: list.instructions } }),
      };
    } catch (failure) {
      if (!(failure instanceof McpFailure) || signal.aborted) throw failure;
      const isOptional = !("problem" in settings) && settings.required === false;
      return { tools: [], missing: [{ server, failed: failure.failed, isOptional }], warnings: [] };
    }
  }

  #toAgentTool(servers: McpServers, tool: ServerTool, names: Pick<AgentTool, "name" | "aliases">): AgentTool {
    const { $schema: _, ...inputSchema } = tool.inputSchema;
    return {
      ...names,
      server: tool.server,
      tool: tool.name,
      description: describeTool(tool),
      inputSchema,
      isRepeatable: tool.isRepeatable,
      rests: (memory) => servers.rests(memory),
      findChange: (memory) => findChange(tool, memory),
      call: (args, call, signal) => this.#call(servers, { tool, args }, call, signal),
    };
  }

  async #call(
    servers: McpServers,
    { tool: offered, args }: { readonly tool: ServerTool; readonly args: JsonObject },
    { idempotencyKey, traceParent, memory, onProgress }: AgentToolCall,
    signal: AbortSignal,
  ): Promise<ToolCallResult> {
    const request: ToolRequest = {
      server: offered.server,
      tool: offered.name,
      arguments: args,
      meta: {
        "pawl/idempotency-key": idempotencyKey,
        ...(traceParent === undefined ? {} : { traceparent: traceParent }),
      },
      check: async (tool) => {
        if (memory !== undefined) {
          // What the model was shown is what it called.
          await pinTool(offered, memory);
          await holdToPin(tool, memory);
        }
        await checkArguments(tool, args, this.#options.validators);
      },
      onProgress: ({ progress, total, message }) => {
        const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
        onProgress?.(message === undefined ? share : `${share}: ${message}`);
      },
    };
    try {
      const answer = await (memory === undefined
        ? servers.call(request, signal)
        : servers.callAsking({ ...request, memory, repeats: "answered" }, signal));
      if ("key" in answer) return { isError: false, text: "", content: [], asks: answer };
      const flaws =
        answer.result.isError === true ? [] : await findResultFlaws(answer.tool, answer.result, this.#options);
      return toResult(answer, answer.redactor.text(listViolations(flaws, "the result")));
    } catch (failure) {
      if (failure instanceof McpFailure) return toFailedResult(failure);
      throw failure;
    }
  }
}

/** Throws `AsksPerson` for a tool that is another one by now, and `MCP_TOOL_NOT_ALLOWED` where the person has said no. */
async function holdToPin(tool: ServerTool, memory: CallMemory): Promise<void> {
  const change = await findChange(tool, memory);
  if (change === "none") return;
  if (change !== "refused") throw new AsksPerson(change);
  throw refusal("MCP_TOOL_NOT_ALLOWED", `A person does not allow \`${tool.name}\` as its server has changed it.`);
}

type Releases = readonly (() => void)[];

interface ListedServer {
  readonly tools: readonly {
    readonly tool: ServerTool;
    readonly weight: number;
    readonly exclude: readonly string[];
    /** See `closedAfterChange`. */
    readonly isClosed: boolean;
  }[];
  readonly missing: ToolboxOffer["missing"];
  readonly warnings: readonly string[];
  readonly instructions?: ServerInstructions;
}

interface ChosenServers {
  readonly known: readonly string[];
  readonly missing: readonly MissingServer[];
}

/** Servers that the definition was not granted are missing; an agent that names none does without those of the configuration. */
function holdToGrant(
  { known, missing }: ChosenServers,
  { servers, grant = EVERYTHING, clients }: ToolboxRequest,
): ChosenServers {
  const found = known.map((server) => {
    if (servers !== undefined) return { server, lack: wantsOfServer(server, servers[server] ?? null).find(isLacking) };
    return { server, lack: [wantOf(server)].find(isLacking) };
  });
  function isLacking({ capability, name }: Lack): boolean {
    return !allows(grant, capability, name);
  }
  const refused = found.flatMap(({ server, lack }) => {
    if (lack === undefined || (servers === undefined && clients === undefined)) return [];
    const message = `${lack.message} ${remedyFor(lack.capability, lack.name)}`;
    return [{ server, failed: toRefused("NOT_GRANTED", message), isOptional: false }];
  });
  return {
    known: found.flatMap(({ server, lack }) => (lack === undefined ? [server] : [])),
    missing: [...missing, ...refused],
  };
}

function wantOf(server: string): Lack {
  return { capability: "servers", name: server, message: `The agent uses the MCP server \`${server}\`.` };
}

/** In the order of the configuration, whatever the order of `clients`. */
async function chooseServers(servers: McpServers, clients: readonly string[] | undefined): Promise<ChosenServers> {
  if (clients?.length === 0) return { known: [], missing: [] };
  try {
    const names = await servers.names();
    const unknown = (clients ?? []).filter((client) => !names.includes(client));
    return {
      known: clients === undefined ? names : names.filter((name) => clients.includes(name)),
      missing: unknown.map((server) => ({
        server,
        failed: toRefused("MCP_SERVER_UNKNOWN", `No MCP server is called "${server}". ${describeKnown(server, names)}`),
        isOptional: false,
      })),
    };
  } catch (error) {
    // The file that names them cannot be read.
    const failed = toRefused("MCP_SERVER_INVALID", error instanceof Error ? error.message : String(error));
    return { known: [], missing: (clients ?? ["*"]).map((server) => ({ server, failed, isOptional: false })) };
  }
}

const UNFIT = "The tool has done its work, but its result does not fit its own schema. Do not rely on it:";

function toResult({ result, redactor }: ToolAnswer, flaws: string): ToolCallResult {
  const structured = result.structuredContent as Json | undefined;
  const said = redactor.text(describeContent(result));
  const text = flaws === "" ? said : `${UNFIT}\n${flaws}\n\n${said}`;
  const isError = result.isError === true || flaws !== "";
  return {
    isError,
    text: isError && text.trim() === "" ? "The tool reported an error without a message." : text,
    ...(structured === undefined ? {} : { structured: redactor.json(structured) }),
    // It came as JSON, whatever the SDK's type says.
    content: redactor.json(result.content as Json[]),
  };
}

/** For the model, which may try something else. */
function toFailedResult({ failed }: McpFailure): ToolCallResult {
  const outcomeUnknown = failed.effect === "unknown";
  const hint = outcomeUnknown ? "\nIt is not known whether the tool has done its work." : "";
  const { details } = failed;
  return {
    isError: true,
    text: `${failed.message}${hint}`,
    ...(details !== undefined && isJsonObject(details) ? { structured: details } : {}),
    content: [],
    ...(outcomeUnknown ? { outcomeUnknown } : {}),
  };
}
