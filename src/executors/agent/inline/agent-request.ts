import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readAgentInput } from "../agent-input.ts";

export interface AgentRequest {
  readonly name: string;
  readonly message: string;
  /** Relative path -> text, for the agent to read. */
  readonly files?: JsonObject | undefined;
  readonly system?: string | undefined;
  readonly model?: string | undefined;
  /** The configured default goes before it. */
  readonly isUsualModel?: boolean;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly maxTurns: number;
  readonly builtIns: readonly string[];
  /** MCP servers. Absent: all of them. */
  readonly clients?: readonly string[] | undefined;
  /** Names of tools; absent: all that its servers offer. */
  readonly allow?: readonly string[] | undefined;
  /** Tools that need a person's yes. */
  readonly approve: readonly string[];
  readonly exclude: readonly string[];
  readonly schema?: JsonObject | undefined;
  /** Over all attempts. */
  readonly maxCostMicro?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly repairs?: number | undefined;
  /** The session whose earlier exchanges the agent gets. */
  readonly sessionId?: string | undefined;
  readonly needsText: boolean;
  /** `agent`: the whole conversation. `step`: the answer, as an agent server gives it. */
  readonly answersAs: "agent" | "step";
}

const TEMPERATURE = 0.7;
const MAX_TOKENS = 4_096;
const MAX_ITERATIONS = 10;
/** For steps that set no `max_turns`. */
const MAX_TURNS = 25;

/** Every other name in a step's `tools` is a tool of an MCP server. */
const BUILT_IN_NAMES: readonly string[] = ["web_fetch", "files", "bash", "web_search"];

/** Reads a bound task input: of an agent that a definition describes, or of a step that any agent may answer. */
export function readAgentRequest(input: Json, stepId: string): AgentRequest {
  return isJsonObject(input) && isJsonObject(input["agent"])
    ? readDescribed(input, input["agent"])
    : readStep(input, stepId);
}

function readDescribed(input: JsonObject, agent: JsonObject): AgentRequest {
  const { message, session_id: sessionId, needs_text: needsText } = input;
  const costUsd = numberIn(agent, "max_cost_usd");
  return {
    name: textIn(agent, "name") ?? "",
    message: typeof message === "string" ? message : writeExact(message ?? ""),
    system: textIn(agent, "system_prompt"),
    model: textIn(agent, "model"),
    temperature: numberIn(agent, "temperature") ?? TEMPERATURE,
    maxTokens: numberIn(agent, "max_tokens") ?? MAX_TOKENS,
    maxTurns: numberIn(agent, "max_iterations") ?? MAX_ITERATIONS,
    builtIns: textsIn(agent, "tools") ?? [],
    clients: textsIn(agent, "clients"),
    allow: textsIn(agent, "allow"),
    approve: textsIn(agent, "approve") ?? [],
    exclude: textsIn(agent, "exclude") ?? [],
    schema: isJsonObject(agent["output_schema"]) ? agent["output_schema"] : undefined,
    maxCostMicro: costUsd === undefined ? undefined : Math.round(costUsd * 1_000_000),
    maxTotalTokens: numberIn(agent, "max_total_tokens"),
    repairs: numberIn(agent, "repairs"),
    sessionId: agent["include_history"] === true && typeof sessionId === "string" ? sessionId : undefined,
    needsText: needsText === true,
    answersAs: "agent",
  };
}

function readStep(input: Json, stepId: string): AgentRequest {
  const { prompt, model, isUsualModel, maxTurns, outputSchema, files, tools } = readAgentInput(input);
  const builtIns = tools.filter((name) => BUILT_IN_NAMES.includes(name));
  const ofServers = tools.filter((name) => !BUILT_IN_NAMES.includes(name));
  return {
    name: stepId,
    message: prompt,
    files,
    model,
    isUsualModel,
    maxTurns: maxTurns ?? MAX_TURNS,
    builtIns,
    clients: [...new Set(ofServers.map((name) => name.split(".", 1)[0] ?? name))],
    allow: ofServers,
    approve: [],
    exclude: [],
    schema: outputSchema,
    needsText: false,
    answersAs: "step",
  };
}

function textIn(from: JsonObject, key: string): string | undefined {
  const value = from[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberIn(from: JsonObject, key: string): number | undefined {
  const value = from[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function textsIn(from: JsonObject, key: string): readonly string[] | undefined {
  const value: Json | undefined = from[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}
