import type { Expr } from "../../core/expressions/expr.ts";
import type { Graph, TaskStep } from "../../core/graph/graph.ts";
import { asObject, filledText, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { type TryCalls, USUAL_STEP_TURNS } from "../../ports/model-prices.ts";
import { toMicro } from "../limits/micro-dollars.ts";
import type { Assumptions } from "./plan-schemas.ts";
import { type KnownValues, knownValueOf, plus, tokensOf } from "./plan-values.ts";

/** The most that one attempt of a task asks of a model. */
export interface Asking extends TryCalls {
  /** The definition's name for it. */
  readonly model: string | undefined;
  /** It is what agent servers are asked for where the definition names none. */
  readonly isUsualModel?: boolean;
  readonly forAgent: boolean;
  /** Set where the definition limits turns, or its executor does. */
  readonly turns: number | undefined;
  /** The task's own limit, over all attempts of one instance. */
  readonly maxCostMicro: number | undefined;
}

interface Place {
  readonly graph: Graph;
  readonly known: KnownValues;
  readonly assumptions: Assumptions;
  /** How often a model is asked again whose answer does not fit. */
  readonly repairs: number;
}

/** The turns of agents that set no `max_turns` or `max_iterations`. */
const AGENT_TURNS = 10;
const AGENT_TOKENS = 4_096;

/** Undefined: the task asks no model. */
export async function readAsking(step: TaskStep, place: Place): Promise<Asking | undefined> {
  const entries = step.input.op === "object" ? step.input.entries : {};
  const read = (name: string) => knownValueOf(entries[name], place.known);
  if (step.executor === "llm") return readModelCall(entries, read, place);
  if (step.executor === "mcp") {
    const called = entries["arguments"];
    if (read("tool") !== "core.llm.generate" || called === undefined) return undefined;
    const given = called.op === "object" ? called.entries : {};
    return readModelCall(given, (name) => knownValueOf(given[name], place.known), place);
  }
  if (step.executor !== "agent" && step.executor !== "inline") return undefined;
  const agent = read("agent");
  return isJsonObject(agent) ? readAgent(step, agent, place) : readStep(step, read, place);
}

type Read = (name: string) => Json | undefined;

async function readStep(step: TaskStep, read: Read, { known, assumptions, repairs }: Place): Promise<Asking> {
  const turns = toNumber(read("max_turns")) ?? USUAL_STEP_TURNS;
  return {
    model: filledText(read("model")),
    isUsualModel: read("model_is_usual") === true,
    forAgent: true,
    turns,
    calls: turns + (isJsonObject(read("output_schema")) ? repairs : 0),
    inputTokens: plus(await tokensOf(step.input, known, assumptions), assumptions.overhead_tokens),
    outputTokens: assumptions.output_tokens,
    addedTokens: assumptions.tool_tokens,
    maxCostMicro: undefined,
    maxTotalTokens: undefined,
  };
}

async function readAgent(step: TaskStep, agent: JsonObject, { known, assumptions, repairs }: Place): Promise<Asking> {
  const turns = toNumber(agent["max_iterations"]) ?? AGENT_TURNS;
  const maxCostUsd = toNumber(agent["max_cost_usd"]);
  return {
    model: filledText(agent["model"]),
    forAgent: true,
    turns,
    calls: turns + (isJsonObject(agent["output_schema"]) ? (toNumber(agent["repairs"]) ?? repairs) : 0),
    inputTokens: plus(await tokensOf(step.input, known, assumptions), assumptions.overhead_tokens),
    outputTokens: toNumber(agent["max_tokens"]) ?? AGENT_TOKENS,
    addedTokens: assumptions.tool_tokens,
    maxCostMicro: toMicro(maxCostUsd),
    maxTotalTokens: toNumber(agent["max_total_tokens"]),
  };
}

async function readModelCall(
  entries: { readonly [name: string]: Expr },
  read: Read,
  { graph, known, assumptions, repairs }: Place,
): Promise<Asking> {
  const file = readPromptFile(graph, read("promptTemplate") ?? read("prompt_template"));
  const parameters = { ...asObject(file["parameters"]), ...asObject(read("parameters")) };
  const schema = read("outputSchema") ?? read("output_schema") ?? file["outputSchema"];
  const format = read("outputFormat") ?? read("output_format") ?? file["outputFormat"];
  const asksAgain = isJsonObject(schema) || (format !== undefined && format !== "text");
  const template = await tokensOf({ op: "literal", value: file["template"] ?? "" }, known, assumptions);
  const given = await tokensOf({ op: "object", entries }, known, assumptions);
  return {
    model: filledText(read("model") ?? file["model"]),
    forAgent: false,
    turns: undefined,
    calls: asksAgain ? 1 + repairs : 1,
    inputTokens: plus(given, template),
    outputTokens: readMaxTokens(parameters) ?? assumptions.output_tokens,
    addedTokens: 0,
    maxCostMicro: undefined,
    maxTotalTokens: undefined,
  };
}

function readPromptFile({ settings }: Graph, path: Json | undefined): JsonObject {
  const files = asObject(settings["prompts"]);
  return typeof path === "string" && Object.hasOwn(files, path) ? asObject(files[path]) : {};
}

const MAX_TOKENS_NAMES = ["max_tokens", "maxTokens", "max_output_tokens", "maxOutputTokens"];

function readMaxTokens(parameters: JsonObject): number | undefined {
  return MAX_TOKENS_NAMES.map((name) => toNumber(parameters[name])).find((tokens) => tokens !== undefined);
}

function toNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
