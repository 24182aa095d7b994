import { isJsonObject, type Json } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { toFailed } from "../output/failure.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
import type { Model } from "./create-models.ts";
import type { AskedStep, CallOptions, GenerateResult, ModelTool, Prompt, StreamPart } from "./language-model.ts";
import { toModelFailure, toStopped, toStreamFailure } from "./model-failure.ts";
import type { TokenUsage } from "./price-call.ts";
import { describeWarning, readCost, readUsage } from "./read-result.ts";
import { readSpentRecord, toSpentRecord } from "./spending.ts";
import { PartCollector, type TurnPart } from "./turn-parts.ts";

/** One turn of a conversation in which the model may call tools. */
export interface TurnCall {
  readonly model: Model;
  readonly asked: AskedStep;
  readonly prompt: Prompt;
  readonly tools: readonly ModelTool[];
  readonly settings: Partial<CallOptions>;
  /** The longest silence of the model. Absent: no limit but the signal. */
  readonly silenceMs?: number | undefined;
  /** The model has begun to answer. */
  onBegin?(): void;
  /** A piece of the text, as it comes. */
  onText?(delta: string): void;
}

export type TurnReply =
  | { readonly ok: true; readonly turn: ModelTurn; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly failed: Failed };

/** The answer of a model in one turn. */
export interface ModelTurn {
  readonly parts: readonly TurnPart[];
  /** `tools`: it waits for results. `cut`: at the limit of tokens. */
  readonly ended: "whole" | "tools" | "cut" | "filtered" | "broken";
  readonly usage: TokenUsage;
  readonly costMicro: number | null;
  /** The model that answered, as the provider names it. */
  readonly model: string;
}

/**
 * Asks once, and listens to the whole answer. A stream that ends before the provider has said that it is done has not
 * answered: nothing of it counts. The caller decides about retries.
 */
export async function streamTurn(call: TurnCall, signal: AbortSignal): Promise<TurnReply> {
  const { model } = call;
  const redactor = createRedactor(model.secrets);
  const silence = createSilenceTimer(call.silenceMs);
  const stop = AbortSignal.any([signal, silence.signal]);
  try {
    stop.throwIfAborted();
    const provider = await model.open(call.asked);
    // The price list is loaded while the provider thinks.
    const [{ stream }] = await Promise.all([provider.doStream(toOptions(call, stop)), model.hasPrice()]);
    let isFirst = true;
    const onPart = () => {
      silence.reset();
      if (isFirst) call.onBegin?.();
      isFirst = false;
    };
    const content = await listen(stream, onPart, call.onText);
    if ("error" in content) throw new StreamError(content.error);
    if (content.finish === undefined) throw new StreamError(new Error("it ended without its last word"));
    const { turn, warnings } = await toTurn(content, content.finish, model);
    return { ok: true, turn: { ...turn, parts: redactor.json(turn.parts) }, warnings };
  } catch (error) {
    const failed = signal.aborted
      ? toStopped()
      : silence.signal.aborted
        ? toSilent(call)
        : error instanceof StreamError
          ? toStreamFailure(error.cause, model.id)
          : toModelFailure(error, model.id);
    return { ok: false, failed: redactOutcome(failed, redactor) as Failed };
  } finally {
    silence.stop();
  }
}

/** The stream had begun. */
class StreamError extends Error {
  constructor(cause: unknown) {
    super("stream", { cause });
  }
}

type Finish = StreamPart & { readonly type: "finish" };

interface StreamContent {
  readonly parts: readonly TurnPart[];
  readonly warnings: GenerateResult["warnings"];
  readonly modelId: string | undefined;
  readonly finish: Finish | undefined;
}

async function listen(
  stream: ReadableStream<StreamPart>,
  onPart: () => void,
  onText: TurnCall["onText"],
): Promise<StreamContent | { readonly error: unknown }> {
  const collector = new PartCollector();
  let warnings: GenerateResult["warnings"] = [];
  let modelId: string | undefined;
  let finish: Finish | undefined;
  try {
    for await (const part of stream) {
      onPart();
      if (part.type === "error" && isUnknownEvent(part.error)) continue;
      if (part.type === "error") return { error: part.error };
      if (part.type === "stream-start") warnings = part.warnings;
      else if (part.type === "response-metadata") modelId = part.modelId ?? modelId;
      else if (part.type === "finish") finish = part;
      else if (part.type === "text-delta" && part.delta !== "") onText?.(part.delta);
      collector.add(part);
    }
  } catch (error) {
    return { error };
  }
  return { parts: collector.parts, warnings, modelId, finish };
}

/** An event of a kind that the provider's package does not know: providers add some, and say that they are to be left out. */
function isUnknownEvent(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== "AI_TypeValidationError" || !("value" in error)) return false;
  const { type } = (error.value ?? {}) as { readonly type?: unknown };
  return typeof type === "string" && !ANTHROPIC_EVENTS.test(type);
}

const ANTHROPIC_EVENTS = /^(?:message_(?:start|delta|stop)|content_block_(?:start|delta|stop)|ping|error)$/;

async function toTurn(content: StreamContent, finish: Finish, model: Model) {
  const { parts, modelId, warnings } = content;
  const { unified } = finish.finishReason;
  if (unified === "interrupted" || unified === "error")
    throw new StreamError(new Error("it ended without its last word"));
  const usage = readUsage(finish.usage);
  const tokensMicro = await readCost({ usage, modelId, metadata: finish.providerMetadata }, model);
  const costMicro = tokensMicro === null ? null : tokensMicro + searchFees(parts, model);
  const calls = parts.some((part) => part.type === "call" && !part.isProviders);
  const ended = unified === "length" ? "cut" : unified === "content-filter" ? "filtered" : calls ? "tools" : "whole";
  const turn: ModelTurn = { parts, ended, usage, costMicro, model: modelId ?? model.id };
  return { turn, warnings: warnings.map(describeWarning) };
}

/** A provider's own searches are charged beside the tokens. */
function searchFees(parts: readonly TurnPart[], { searching }: Model): number {
  if (searching === undefined) return 0;
  const searches = parts.filter((part) => part.type === "call" && part.isProviders).length;
  return Math.min(searches, searching.most) * searching.feeMicro;
}

/** Whether the provider may search by itself. */
export function searchesItself({ tools }: Pick<TurnCall, "tools">): boolean {
  return tools.some(({ type }) => type === "provider");
}

function toOptions(call: TurnCall, abortSignal: AbortSignal): CallOptions {
  const { model, settings, prompt, tools } = call;
  const { openai } = settings.providerOptions ?? {};
  const most = model.kind === "openai" && searchesItself(call) ? model.searching?.most : undefined;
  return {
    ...settings,
    // The tool itself has no limit there.
    ...(most === undefined ? {} : { providerOptions: { openai: { ...openai, maxToolCalls: most } } }),
    prompt,
    ...(tools.length === 0 ? {} : { tools: [...tools] }),
    abortSignal,
  };
}

function toSilent({ model, silenceMs = 0 }: TurnCall): Failed {
  const message = `The model ${model.id} said nothing for ${silenceMs / 1_000} s.`;
  return toFailed("TIMEOUT", { message, retryable: true, effect: "none", costMicro: null });
}

/** Aborts its signal when it is not reset for so long. */
function createSilenceTimer(silenceMs: number | undefined) {
  const controller = new AbortController();
  const timer = silenceMs === undefined ? undefined : setTimeout(() => controller.abort(), silenceMs);
  return {
    signal: controller.signal,
    reset: () => void timer?.refresh(),
    stop: () => clearTimeout(timer),
  };
}

const ENDS = ["whole", "tools", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
export function toTurnRecord(turn: ModelTurn): Json {
  const { parts, ended, model } = turn;
  return { parts, ended, ...toSpentRecord(turn), model };
}

export function readTurnRecord(record: Json | undefined): ModelTurn | undefined {
  if (!isJsonObject(record) || !Array.isArray(record["parts"])) return undefined;
  return {
    // This program wrote it.
    parts: record["parts"] as readonly TurnPart[],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    ...readSpentRecord(record),
    model: typeof record["model"] === "string" ? record["model"] : "",
  };
}
