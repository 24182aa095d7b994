import type { Json, JsonObject } from "../../../core/json.ts";
import type { Executor, Failed, Outcome, Task } from "../../../ports/executor.ts";
import { JsonSchemas, type Validate } from "../../../schemas/json-schemas.ts";
import {
  costOfTurn,
  giveTurn,
  type PreparedTurn,
  prepareTurn,
  type SimulatedAnswer,
  type SimulatedTurn,
  type SimulationOptions,
} from "../../models/mock/simulate-turn.ts";
import type { ModelTurn } from "../../models/model-turn.ts";
import { toFailed, toInterrupted, toRefused, toSchemaInvalid } from "../../output/failure.ts";
import { readAnswer } from "../../output/read-answer.ts";
import { toAgentOutput } from "../inline/agent-output.ts";
import { type AgentRequest, readAgentRequest } from "../inline/agent-request.ts";

export interface SimulatedOptions extends SimulationOptions {
  readonly validators?: JsonSchemas;
}

/** Answers agent steps without an agent: as scripted, else in the shape of the output schema or of what other steps read. Used only by name. */
export function createSimulatedExecutor(options: SimulatedOptions = {}): Executor<Outcome> {
  const validators = options.validators ?? new JsonSchemas();
  return {
    recordsInput: true,
    runsElsewhere: true,
    async run(task, signal) {
      const request = readAgentRequest(task.input, task.stepId);
      const { message: prompt, model, schema } = request;
      const compiled = schema === undefined ? undefined : await validators.compile(schema);
      if (compiled?.ok === false) return toSchemaInvalid(compiled.message);
      const validate = compiled?.validate;
      const { stepId, path, attempt } = task;
      const inferred = request.answersAs === "step" ? task.inferredSchema : undefined;
      const question = { stepId, path, attempt, prompt, model, schema: schema ?? inferred, validate };
      const prepared = await prepareTurn(question, options);
      try {
        const turn = await payFor(prepared, task, () => giveTurn(prepared, options, signal));
        if (!turn.ok) return turn.failed;
        return turn.answer.calls.length > 0 ? toToolless() : await conclude(turn.answer, { task, request, validate });
      } catch (error) {
        if (signal.aborted) return toInterrupted("none");
        throw error;
      }
    },
  };
}

/** It costs what it will, by the same rules as one that is paid for. */
async function payFor({ turn }: PreparedTurn, task: Task, give: () => Promise<SimulatedTurn>): Promise<SimulatedTurn> {
  const costMicro = costOfTurn(turn);
  if (task.isLimited !== true || costMicro === 0) return give();
  const reservation = await task.reserve({ atMostMicro: costMicro ?? undefined, payee: "a simulated agent" });
  if ("status" in reservation) return { ok: false, failed: reservation };
  const settle = await reservation.record();
  let spentMicro: number | null = 0;
  try {
    const given = await give();
    spentMicro = costMicro;
    return given;
  } finally {
    settle(spentMicro);
    reservation.release();
  }
}

/** Treats the answer like that of a real agent: it is logged, limited, and must fit the schema. */
async function conclude(
  answer: SimulatedAnswer,
  { task, request, validate }: { task: Task; request: AgentRequest; validate: Validate | undefined },
): Promise<Outcome> {
  const { costMicro, turns, usage: tokens } = answer.spent;
  const sessionId = `simulated-${task.path}-${task.attempt}`;
  for (const event of toConversation(answer, { model: request.model ?? "simulated", sessionId }))
    task.emit({ type: "log", event });
  const usage = { ...tokens, num_turns: turns, duration_ms: Math.round(answer.delayMs) };
  const read = await readAnswer(answer, validate);
  if (read.ok) {
    const output =
      request.answersAs === "step" ? read.output : toOutput(answer, request, { usage, output: read.output });
    return { status: "succeeded", output, costMicro, usage };
  }
  const { code, message, details, retryable } = read;
  return toFailed(code, { message, details, retryable, effect: "done", costMicro, usage });
}

/** A finished answer as the documents that a Sandstorm server would send for it. */
export function toConversation(
  { text, structured, spent, delayMs }: SimulatedAnswer,
  { model, sessionId }: { readonly model: string; readonly sessionId: string },
): readonly [JsonObject, JsonObject, JsonObject] {
  const content = [{ type: "text", text }];
  return [
    { type: "system", subtype: "init", session_id: sessionId, model, tools: [], mcp_servers: [] },
    {
      type: "assistant",
      message: { id: `msg_${sessionId}`, type: "message", role: "assistant", model, content },
      parent_tool_use_id: null,
      session_id: sessionId,
    },
    {
      type: "result",
      subtype: "success",
      is_error: false,
      result: text,
      ...(structured !== undefined && { structured_output: structured }),
      ...(spent.costMicro !== null && { total_cost_usd: spent.costMicro / 1_000_000 }),
      num_turns: spent.turns,
      duration_ms: delayMs,
      usage: spent.usage,
      session_id: sessionId,
    },
  ];
}

/** The whole conversation, as an agent of an agents file has it: a message, and an answer without any tool. */
function toOutput(
  { text, spent }: SimulatedAnswer,
  { message, system, schema }: AgentRequest,
  { usage, output }: { readonly usage: JsonObject; readonly output: Json },
): JsonObject {
  const said: ModelTurn = {
    parts: [{ type: "text", text }],
    ended: "done",
    usage: { input: undefined, output: undefined, cacheRead: undefined, cacheWrite: undefined },
    costMicro: spent.costMicro,
    model: "simulated",
  };
  const transcript = { system, history: [], opening: [message], turns: [{ said, results: [] }] };
  return toAgentOutput(said, transcript, { usage, structured: schema === undefined ? undefined : output });
}

function toToolless(): Failed {
  const message =
    "A simulated agent has no tools to call. Give the agent the model `mock:FILE`, which can call those that it has.";
  return toRefused("SCRIPT_INVALID", message);
}
