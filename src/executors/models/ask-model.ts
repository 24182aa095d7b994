import type { JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
import type { Model } from "./create-models.ts";
import type { AskedStep, CallOptions, GenerateResult } from "./language-model.ts";
import { toModelFailure, toStopped } from "./model-failure.ts";
import type { TokenUsage } from "./price-call.ts";
import { describeWarning, readCost, readUsage } from "./read-result.ts";

/** One request to a model. */
export interface ModelCall {
  readonly model: Model;
  readonly asked: AskedStep;
  readonly system?: string | undefined;
  /** The conversation so far. The first and the last message are the user's. */
  readonly messages: readonly Message[];
  readonly settings: Partial<CallOptions>;
  /** Absent: no limit but the signal. */
  readonly timeoutMs?: number | undefined;
}

export interface Message {
  readonly by: "user" | "model";
  readonly text: string;
}

export type ModelReply =
  | { readonly ok: true; readonly answer: ModelAnswer }
  | { readonly ok: false; readonly failed: Failed };

export interface ModelAnswer {
  readonly text: string;
  /** `cut`: at the limit of tokens. */
  readonly ended: "whole" | "cut" | "filtered" | "broken";
  readonly usage: TokenUsage;
  readonly costMicro: number | null;
  /** Settings that the provider leaves out, and the like. */
  readonly warnings: readonly string[];
}

/**
 * Asks once; the caller decides about retries. It goes to the provider's model itself: the SDK's `generateText`
 * would add a tool loop, retries and warnings on the console, and cost 70 ms when it is loaded.
 */
export async function askModel(call: ModelCall, signal: AbortSignal): Promise<ModelReply> {
  const redactor = createRedactor(call.model.secrets);
  const timeout = call.timeoutMs === undefined ? undefined : AbortSignal.timeout(call.timeoutMs);
  const stop = timeout === undefined ? signal : AbortSignal.any([signal, timeout]);
  try {
    stop.throwIfAborted();
    const model = await call.model.open(call.asked);
    // The price list is loaded while the provider thinks.
    const [result] = await Promise.all([model.doGenerate(toOptions(call, stop)), call.model.hasPrice()]);
    const answer = await toAnswer(result, call.model);
    return { ok: true, answer: { ...answer, text: redactor.text(answer.text) } };
  } catch (error) {
    const failed = signal.aborted
      ? toStopped()
      : timeout?.aborted
        ? toTimedOut(call)
        : toModelFailure(error, call.model.id);
    return { ok: false, failed: redactOutcome(failed, redactor) as Failed };
  }
}

function toTimedOut({ model, timeoutMs = 0 }: ModelCall): Failed {
  const message = `The model ${model.id} gave no answer within ${timeoutMs / 1_000} s.`;
  return toFailed("TIMEOUT", { message, retryable: true, effect: "none", costMicro: null });
}

function toOptions({ system, messages, settings, model, asked }: ModelCall, abortSignal: AbortSignal): CallOptions {
  const spoken = messages.map(({ by, text }): CallOptions["prompt"][number] => {
    const content: [{ type: "text"; text: string }] = [{ type: "text", text }];
    return by === "user" ? { role: "user", content } : { role: "assistant", content };
  });
  return {
    ...settings,
    ...(model.takesSchemas && asked.format === "json" ? toResponseFormat(asked.schema) : {}),
    prompt: [...(system === undefined ? [] : [{ role: "system" as const, content: system }]), ...spoken],
    abortSignal,
  };
}

/** A strict schema would have to name every property as required; what comes is validated here anyway. */
export function toResponseFormat(schema: JsonObject | undefined): Partial<CallOptions> {
  if (schema?.["type"] !== "object") return {};
  return {
    responseFormat: { type: "json", name: "answer", schema: schema as JsonObject & { type: "object" } },
    providerOptions: { openai: { strictJsonSchema: false } },
  };
}

async function toAnswer(result: GenerateResult, model: Model): Promise<ModelAnswer> {
  const usage = readUsage(result.usage);
  const answered = { usage, modelId: result.response?.modelId, metadata: result.providerMetadata };
  return {
    text: result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
    ended: readEnd(result.finishReason.unified),
    usage,
    costMicro: await readCost(answered, model),
    warnings: result.warnings.map(describeWarning),
  };
}

function readEnd(reason: GenerateResult["finishReason"]["unified"]): ModelAnswer["ended"] {
  switch (reason) {
    case "length":
      return "cut";
    case "content-filter":
      return "filtered";
    case "error":
    case "interrupted":
      return "broken";
    case "stop":
    case "tool-calls":
    case "other":
      return "whole";
  }
}
