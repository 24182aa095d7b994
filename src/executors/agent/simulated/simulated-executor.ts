import { setTimeout } from "node:timers/promises";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Executor, Failed, Outcome, Task } from "../../../ports/executor.ts";
import type { AgentScript, ScriptedFailure, ScriptedTurn } from "../../models/mock/agent-script.ts";
import { findTurn } from "../../models/mock/find-turn.ts";
import { createRandom } from "../../models/mock/random.ts";
import {
  estimateSpending,
  type Question,
  type SimulatedAnswer,
  type Spending,
  scriptedSpending,
  simulateAnswer,
} from "../../models/mock/simulate-answer.ts";
import type { ModelTurn } from "../../models/stream-turn.ts";
import { toFailed, toInterrupted, toSchemaInvalid } from "../../output/failure.ts";
import { type RawAnswer, readAnswer } from "../../output/read-answer.ts";
import { createSchemaValidators, type SchemaValidators, type Validate } from "../../output/schema-validators.ts";
import { toAgentOutput } from "../inline/agent-output.ts";
import { type AgentRequest, readAgentRequest } from "../inline/agent-request.ts";
import { toConversation } from "./conversation.ts";

export interface SimulatedOptions {
  readonly script?: AgentScript;
  /** Another seed gives other answers; equal seeds give equal ones. */
  readonly seed?: string;
  /** Scales the made-up delays; 0 answers at once. Scripted delays stay as written. Default 1. */
  readonly delayFactor?: number;
  readonly validators?: SchemaValidators;
  /** Resolves after the time, or rejects when the signal aborts. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

// The longest that a timer of Node can wait.
const FOREVER_MS = 2 ** 31 - 1;

/**
 * Answers agent steps without any agent: as scripted, else with an answer made up to fit the step's output schema, the
 * same for equal input. For demos and for tests of workflows; never chosen unless it is named.
 */
export function createSimulatedExecutor(options: SimulatedOptions = {}): Executor<Outcome> {
  const validators = options.validators ?? createSchemaValidators();
  return {
    recordsInput: true,
    async run(task, signal) {
      const request = readAgentRequest(task.input, task.stepId);
      const { message: prompt, model, schema: outputSchema, isTurnLimitSet, maxTurns } = request;
      const schema = outputSchema === undefined ? undefined : await validators.compile(outputSchema);
      if (schema?.ok === false) return toSchemaInvalid(schema.message);
      const input = { prompt, model, outputSchema, maxTurns: isTurnLimitSet ? maxTurns : undefined };
      return answer({ task, signal, request, input, options, validate: schema?.validate });
    },
  };
}

interface Attempt {
  readonly task: Task;
  readonly signal: AbortSignal;
  readonly request: AgentRequest;
  readonly input: Question;
  readonly options: SimulatedOptions;
  readonly validate: Validate | undefined;
}

async function answer(attempt: Attempt): Promise<Outcome> {
  const { task, input, options, validate } = attempt;
  const turn = options.script === undefined ? undefined : findTurn(options.script, task);
  const simulated = simulateAnswer(input, { validate, ...(options.seed !== undefined && { seed: options.seed }) });
  const delayMs = chooseDelay(turn, simulated, options);
  const isStopped = await waitUnlessStopped(delayMs, attempt);

  if (isStopped) return toInterrupted("none");
  if (turn?.does.type === "fail") return toScriptedFailure(turn.does, turn);
  if (turn?.does.type === "call") return toToolless();
  if (turn?.does.type === "reply") return conclude(toScriptedAnswer(turn.does.reply, turn, input), delayMs, attempt);
  if (simulated.violations.length > 0) return toUnsolvable(simulated);
  return conclude({ ...simulated, spent: scriptedSpending(turn, simulated.spent) }, delayMs, attempt);
}

function chooseDelay(turn: ScriptedTurn | undefined, simulated: SimulatedAnswer, options: SimulatedOptions): number {
  if (turn?.does.type === "hang") return FOREVER_MS;
  const delayMs = turn?.delayMs ?? options.script?.delayMs ?? simulated.delayMs * (options.delayFactor ?? 1);
  return Math.min(delayMs, FOREVER_MS);
}

async function waitUnlessStopped(delayMs: number, { signal, options }: Attempt): Promise<boolean> {
  if (delayMs === 0 || signal.aborted) return signal.aborted;
  try {
    await (options.wait ?? waitForReal)(delayMs, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return signal.aborted;
}

async function waitForReal(delayMs: number, signal: AbortSignal): Promise<void> {
  await setTimeout(delayMs, undefined, { signal });
}

function toScriptedFailure({ code, message, retryable, effect }: ScriptedFailure, turn: ScriptedTurn): Failed {
  return {
    status: "failed",
    code,
    message,
    retryable,
    effect,
    costMicro: turn.costMicro === undefined ? 0 : turn.costMicro,
  };
}

interface SpokenAnswer extends RawAnswer {
  readonly spent: Spending;
}

/** A text is what the agent said; anything else is what it answered in the form that was asked for. */
function toScriptedAnswer(reply: Json, turn: ScriptedTurn, input: Question): SpokenAnswer {
  const said =
    typeof reply === "string"
      ? { text: reply, structured: undefined }
      : { text: JSON.stringify(reply), structured: reply };
  const estimated = estimateSpending(input, said.text, createRandom(input.prompt));
  return { ...said, spent: scriptedSpending(turn, estimated) };
}

/** From here on it goes as with a real agent: a log, a limit, and an answer that must fit. */
function conclude(spoken: SpokenAnswer, delayMs: number, { task, request, input, validate }: Attempt): Outcome {
  const { spent } = spoken;
  if (spent.costMicro !== null && task.maxCostMicro !== undefined && spent.costMicro > task.maxCostMicro)
    return toStoppedByBudget(task.maxCostMicro);

  const sessionId = `simulated-${task.path}-${task.attempt}`;
  const documents = toConversation({ ...spoken, model: input.model ?? "simulated", sessionId, durationMs: delayMs });
  for (const event of documents) task.emit({ type: "log", event });
  const usage = { ...spent.usage, num_turns: spent.turns, duration_ms: Math.round(delayMs) };
  const answered = readAnswer(spoken, validate);
  if (answered.ok) {
    const output =
      request.answersAs === "step" ? answered.output : tell(spoken, request, { usage, output: answered.output });
    return { status: "succeeded", output, costMicro: spent.costMicro, usage };
  }
  const { code, message, details } = answered;
  return toFailed(code, { message, details, retryable: true, effect: "done", costMicro: spent.costMicro, usage });
}

/** The whole conversation, as an agent of an agents file has it: a message, and an answer without any tool. */
function tell(
  { text, spent }: SpokenAnswer,
  { message, system, schema }: AgentRequest,
  { usage, output }: { readonly usage: JsonObject; readonly output: Json },
): JsonObject {
  const said: ModelTurn = {
    parts: [{ type: "text", text }],
    ended: "whole",
    usage: { input: undefined, output: undefined, cacheRead: undefined, cacheWrite: undefined },
    costMicro: spent.costMicro,
    model: "simulated",
  };
  const transcript = { system, history: [], opening: [message], turns: [{ said, results: [] }] };
  return toAgentOutput(said, { transcript, usage, structured: schema === undefined ? undefined : output });
}

function toStoppedByBudget(costMicro: number): Failed {
  const message =
    "The agent gave up (error_max_budget_usd): the simulated answer costs more than the attempt may spend.";
  const outspent = { goesOn: false };
  return toFailed("AGENT_ERROR_RESULT", { message, retryable: false, effect: "done", costMicro, outspent });
}

function toToolless(): Failed {
  const message =
    "A simulated agent has no tools to call. Give the agent the model `mock:FILE`, which can call those that it has.";
  return toFailed("SCRIPT_INVALID", { message, retryable: false, effect: "none" });
}

/** Said aloud rather than answered wrongly. */
function toUnsolvable({ violations }: SimulatedAnswer): Failed {
  const reasons = violations.slice(0, 3).map(({ path, message }) => `${path || "the value"} ${message}`);
  const message = `No answer could be made up for this output schema (${reasons.join("; ")}). Script a reply for the step.`;
  const details = { errors: violations.map((violation) => ({ ...violation })) };
  return toFailed("OUTPUT_INVALID", { message, details, retryable: false, effect: "none" });
}
