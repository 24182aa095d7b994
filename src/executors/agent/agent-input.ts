import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** The `Task.input` of every agent executor. Its keys are those of the seed's request. */
export interface AgentInput {
  readonly prompt: string;
  readonly model: string | undefined;
  /** It is the dialect's default, which is for agent servers: the configuration goes before it. */
  readonly isUsualModel: boolean;
  readonly maxTurns: number | undefined;
  readonly timeoutS: number | undefined;
  readonly outputSchema: JsonObject | undefined;
  /** Relative path -> text. */
  readonly files: JsonObject | undefined;
  /** Built-in tools, and tools of MCP servers as `server.tool` or `server.*`. */
  readonly tools: readonly string[];
}

/** Reads a bound task input. A dialect that binds something else has a defect, so this throws a plain error. */
export function readAgentInput(input: Json): AgentInput {
  if (!isJsonObject(input)) throw new TypeError("an agent task needs an object as its input");
  const { prompt, model, max_turns: maxTurns, timeout, output_schema: outputSchema, files, tools } = input;
  if (typeof prompt !== "string") throw new TypeError("an agent task needs a `prompt` text in its input");
  return {
    prompt,
    isUsualModel: input["model_is_usual"] === true,
    model: typeof model === "string" && model !== "" ? model : undefined,
    maxTurns: typeof maxTurns === "number" ? maxTurns : undefined,
    timeoutS: typeof timeout === "number" ? timeout : undefined,
    outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
    files: isJsonObject(files) ? files : undefined,
    tools: Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [],
  };
}
