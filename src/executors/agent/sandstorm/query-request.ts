import type { JsonObject } from "../../../core/json.ts";
import type { Task } from "../../../ports/executor.ts";
import type { AgentInput } from "../agent-input.ts";
import type { Keys } from "./choose-server.ts";

const MIN_TIMEOUT_S = 5;
const MAX_TIMEOUT_S = 3_600;

/** The body of POST /query. Servers ignore fields that they do not know yet. */
export function toQueryBody(input: AgentInput, keys: Keys, maxCostMicro: number | undefined): JsonObject {
  return {
    prompt: input.prompt,
    ...(input.model !== undefined && { model: input.model }),
    ...(input.maxTurns !== undefined && { max_turns: input.maxTurns }),
    ...(input.timeoutS !== undefined && { timeout: clampTimeout(input.timeoutS) }),
    ...(input.outputSchema !== undefined && { output_format: { type: "json_schema", schema: input.outputSchema } }),
    ...(input.files !== undefined && { files: input.files }),
    ...(maxCostMicro !== undefined && maxCostMicro > 0 && { max_budget_usd: maxCostMicro / 1_000_000 }),
    ...(keys.anthropicApiKey !== undefined && { anthropic_api_key: keys.anthropicApiKey.trim() }),
    ...(keys.e2bApiKey !== undefined && { e2b_api_key: keys.e2bApiKey.trim() }),
  };
}

export function toQueryHeaders(task: Task, keys: Keys, body: string): Record<string, string> {
  return {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    accept: "text/event-stream",
    // Never compressed: a small answer that unpacks to gigabytes cannot be sent to us.
    "accept-encoding": "identity",
    "idempotency-key": encodeURIComponent(task.idempotencyKey),
    ...(task.traceParent !== undefined && { traceparent: task.traceParent }),
    ...(keys.apiKey !== undefined && { authorization: `Bearer ${keys.apiKey.trim()}` }),
  };
}

function clampTimeout(timeoutS: number): number {
  return Math.min(MAX_TIMEOUT_S, Math.max(MIN_TIMEOUT_S, Math.ceil(timeoutS)));
}
