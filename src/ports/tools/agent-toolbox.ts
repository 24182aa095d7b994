import type { Json, JsonObject } from "../../core/json.ts";
import type { Grant, Reach } from "../../core/trust/grant.ts";
import type { Failed, Task, TaskQuestion } from "../executor.ts";
import type { CallingStep } from "./tool-set.ts";

/** Tools of MCP servers, as an agent sees and calls them. */
export interface AgentToolbox {
  /** Connects what is needed and lists the tools. Servers that cannot be reached are listed as missing. Rejects only once `signal` has aborted. */
  offer(wanted: ToolboxRequest, signal: AbortSignal): Promise<ToolboxOffer>;
  /** Connects the eager ones of `servers` and holds them until the next call by the same `holder`. Never waits for them. */
  hold(holder: string, wanted: Pick<ToolboxRequest, "servers" | "folder">): void;
  /** Nothing waits for a person any more. */
  endRun(runId: string): Promise<void>;
  states(): Promise<readonly ToolServerState[]>;
}

export interface ToolboxRequest {
  /** Pinned settings of servers by id, `${NAME}` in them unresolved. Absent: the application's own servers. */
  readonly servers?: JsonObject | undefined;
  /** Absolute; relative paths in `servers` start here. Absent: the application. */
  readonly folder?: string | undefined;
  /** That of the definition. Absent: the operator's. */
  readonly grant?: Grant | undefined;
  /** Addresses that `servers` may name beside the public ones. Absent: all, since the operator wrote them. */
  readonly reach?: Reach | undefined;
  /** Whose run it is: tenants share no server of a definition. Absent: the application's. */
  readonly tenantId?: string | undefined;
  /** Ids of the servers that the agent may use. Absent: all. Empty: none. */
  readonly clients?: readonly string[] | undefined;
  /** Names, or qualified names, of tools that it neither sees nor may call. They may end with `*`. */
  readonly exclude?: readonly string[] | undefined;
}

export interface ToolboxOffer {
  /** Those of the first server first, each server's by name: equal servers, equal order. */
  readonly tools: readonly AgentTool[];
  readonly missing: readonly MissingServer[];
  /** Names under `exclude`, of the request and of the servers, that match no tool of the servers that were reached. */
  readonly idle: readonly string[];
  /** Describes what was left out, e.g. a tool with an invalid schema, for the log. */
  readonly warnings: readonly string[];
  /** Of those that give any. Absent: none does. */
  readonly instructions?: readonly ServerInstructions[];
}

/** What a server says of its tools as a whole: untrusted, bounded, without control characters. */
export interface ServerInstructions {
  readonly server: string;
  readonly text: string;
}

export interface MissingServer {
  readonly server: string;
  /** The failure of an agent that cannot do without it; its message names the server. */
  readonly failed: Failed;
  /** Its entry says `required: false`. */
  readonly isOptional: boolean;
}

export interface AgentTool {
  /** The name that a model sees: unique among the tools, `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string;
  /** Absent: built in. */
  readonly server?: string;
  /** The server's own name for it. */
  readonly tool: string;
  /** Qualified names that always mean this tool: `server.tool`, `mcp__server__tool`. */
  readonly aliases: readonly string[];
  /** The server's word: untrusted, bounded, without control characters. */
  readonly description: string;
  /** The schema of an object, which compiles. */
  readonly inputSchema: JsonObject;
  /** Only reads, or has its effect once: it may be called again when it is unknown whether it was. */
  readonly isRepeatable: boolean;
  /** A call that was begun goes on where it was with the answer of a person: it was not cut off. Absent: it never asks. */
  rests?(memory: CallMemory): Promise<boolean>;
  /** Whether its server still means by it what the step began to use. Absent: it never changes. */
  findChange?(memory: CallMemory): Promise<"none" | "refused" | TaskQuestion>;
  /** Failures of the tool or its server are results too. Only defects are thrown. */
  call(args: JsonObject, call: AgentToolCall, signal: AbortSignal): Promise<ToolCallResult>;
}

export interface AgentToolCall {
  /** The server is told, so that it can make an effect happen once. */
  readonly idempotencyKey: string;
  /** W3C trace context, for the server. */
  readonly traceParent?: string | undefined;
  /** Absent: the server can ask nobody. */
  readonly memory?: CallMemory | undefined;
  /** Bounded in length and number. */
  onProgress?(message: string): void;
}

/** What is on record of a call, whichever attempt makes it. */
export interface CallMemory extends Pick<Task, "runId" | "record" | "recorded"> {
  /** Equal for every attempt that may be the same call. */
  readonly id: string;
  /** Its records begin with this. */
  readonly key: string;
  /** Pays for what the server has a model do, and is told what that was. Absent: nobody does. */
  readonly payer?: { readonly step: CallingStep; paid(spent: SampledSpent): void } | undefined;
}

/** Cost in micro-dollars, and tokens. */
export interface SampledSpent {
  readonly costMicro: number | null;
  readonly usage: { readonly input: number; readonly output: number };
}

export interface ToolCallResult {
  /** In place of a result: its server wants to know this first. */
  readonly asks?: TaskQuestion;
  readonly isError: boolean;
  /** All of the result that a model can read. Whole: it is cut where it is shown. */
  readonly text: string;
  readonly structured?: Json;
  /** The blocks as they came: `text`, `image`, `audio`, `resource`, `resource_link`. */
  readonly content: readonly Json[];
  /** The server was lost or gave no answer in time: the tool may have done its work. */
  readonly outcomeUnknown?: boolean;
}

/** A server as people and `GET /status` are told of it. */
export interface ToolServerState {
  readonly server: string;
  /** The file that configures it. */
  readonly origin: string;
  readonly transport: "stdio" | "http" | "sse" | "unknown";
  /** The command line of its program, or its URL, without secrets. Absent: its entry cannot be used. */
  readonly reached?: string;
  /** `waiting`: it failed repeatedly and is left alone until `nextTryAt`. `failed`: the next use tries again. `invalid`: its entry cannot be used. */
  readonly state: "off" | "connecting" | "ready" | "waiting" | "failed" | "invalid";
  /** Those of the connection that there is. */
  readonly tools?: readonly ToolSummary[];
  readonly callsInFlight: number;
  /** Connections that were made after the first. */
  readonly restarts: number;
  /** Masked. */
  readonly lastFailure?: string;
  /** That was `MCP_LOGIN_NEEDED`, and it was not connected since. */
  readonly wantsLogin?: boolean;
  /** Milliseconds since the epoch. */
  readonly nextTryAt?: number;
}

interface ToolSummary {
  readonly name: string;
  /** The server's word, as in `AgentTool`. */
  readonly description: string;
}
