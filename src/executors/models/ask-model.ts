import { toWritable } from "../../core/exact-json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import type { Accepted, Caller } from "../capacity/capacity-pool.ts";
import { toFailed } from "../output/failure.ts";
import { createRedactor, redactOutcome } from "../output/redact.ts";
import type { Model } from "./create-models.ts";
import type {
  AskedStep,
  CallOptions,
  GenerateResult,
  ModelTool,
  Prompt,
  ProviderModel,
  StreamPart,
} from "./language-model.ts";
import { KnownFailure, toModelFailure, toStopped } from "./model-failure.ts";
import { type ModelTurn, type SaidTurn, toModelTurn } from "./model-turn.ts";
import { EVENTS } from "./provider-fetch.ts";
import { toEndFailure } from "./turn-end.ts";
import { PartCollector } from "./turn-parts.ts";

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

/** Asks once, and waits for the whole answer. The caller retries. The SDK's `generateText` would add a tool loop and retries, and 70 ms to load. */
export function askModel(call: TurnCall, signal: AbortSignal): Promise<TurnReply> {
  return attempt(call, signal, async (provider, options) => {
    const { content, response, ...result } = await provider.doGenerate(options);
    const collector = new PartCollector();
    for (const part of content) collector.add(part);
    return { ...result, parts: collector.parts, modelId: response?.modelId };
  });
}

/** Asks once, and listens to the answer. A stream that ends before the provider says that it is done has not answered. The caller retries. */
export function streamTurn(call: TurnCall, signal: AbortSignal): Promise<TurnReply> {
  return attempt(call, signal, async (provider, options, onPart) => {
    const { stream } = await provider.doStream({ ...options, headers: { accept: EVENTS } });
    const collector = new PartCollector();
    let warnings: GenerateResult["warnings"] = [];
    let modelId: string | undefined;
    let finish: (StreamPart & { readonly type: "finish" }) | undefined;
    for await (const part of stream) {
      onPart();
      if (part.type === "error") throw part.error;
      if (part.type === "stream-start") warnings = part.warnings;
      else if (part.type === "response-metadata") modelId = part.modelId ?? modelId;
      else if (part.type === "finish") finish = part;
      else if (part.type === "text-delta" && part.delta !== "") call.onText?.(part.delta);
      collector.add(part);
    }
    if (finish === undefined || finish.finishReason.unified === "interrupted")
      throw new Error("it ended without its last word");
    return { ...finish, warnings, modelId, parts: collector.parts };
  });
}

type Ask = (provider: ProviderModel, options: CallOptions, onPart: () => void) => Promise<SaidTurn>;

async function attempt(call: TurnCall, signal: AbortSignal, ask: Ask): Promise<TurnReply> {
  const { model } = call;
  const redactor = createRedactor(model.secrets);
  const silence = createSilenceTimer(call.silenceMs);
  const stop = AbortSignal.any([signal, silence.signal]);
  let isArriving = false;
  const onPart = () => {
    silence.reset();
    if (!isArriving) call.onBegin?.();
    isArriving = true;
  };
  try {
    stop.throwIfAborted();
    const provider = await model.open(call.asked);
    // The price list is loaded while the provider thinks.
    const [said] = await Promise.all([ask(provider, toOptions(call, stop), onPart), model.hasPrice()]);
    isArriving = false;
    const turn = await toModelTurn(said, model);
    const { costMicro, parts, rawEnd } = turn;
    if (turn.ended === "broken") throw new KnownFailure({ ...toEndFailure(turn, model.id, ""), costMicro });
    const shown = { ...turn, parts: redactor.json(parts), rawEnd: rawEnd && redactor.text(rawEnd) };
    return { ok: true, turn: shown, warnings: said.warnings.map(describeWarning) };
  } catch (error) {
    const answered = () => (silence.signal.aborted ? toSilent(call) : toModelFailure(error, model, isArriving));
    return { ok: false, failed: redactOutcome(signal.aborted ? toStopped() : answered(), redactor) as Failed };
  } finally {
    silence.stop();
  }
}

/** Whether the provider may search by itself. */
export function searchesItself({ tools }: Pick<TurnCall, "tools">): boolean {
  return tools.some(({ type }) => type === "provider");
}

function toOptions(call: TurnCall, abortSignal: AbortSignal): CallOptions {
  const { model, settings, prompt, tools } = call;
  const { openai } = settings.providerOptions ?? {};
  // The tool itself has no limit there.
  const most = model.kind === "openai" && searchesItself(call) ? { maxToolCalls: model.searching?.most } : {};
  return {
    ...toWritable(settings),
    // Thoughts come back whole, and not as a name for what the provider keeps: a run may go on days later.
    ...(model.kind === "openai" ? { providerOptions: { openai: { store: false, ...openai, ...most } } } : {}),
    // The SDK writes the request.
    prompt: toWritable(prompt),
    ...(tools.length === 0 ? {} : { tools: toWritable([...tools]) }),
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

function describeWarning(warning: GenerateResult["warnings"][number]): string {
  switch (warning.type) {
    case "unsupported":
    case "compatibility": {
      const details = warning.details === undefined ? "" : ` ${warning.details}`;
      return `The provider does not support \`${warning.feature}\`.${details}`;
    }
    case "deprecated":
      return `\`${warning.setting}\` is deprecated. ${warning.message}`;
    case "other":
      return warning.message;
  }
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

type Reply<Answer> = (Answer & { readonly ok: true }) | { readonly ok: false; readonly failed: Failed };

interface SentCall<Answer> {
  readonly model: Pick<Model, "pool">;
  readonly caller: Caller;
  /** Calls `accepted` as soon as the model answers. */
  send(accepted: Accepted): Promise<Reply<Answer>>;
}

/** Asks when the provider takes the call, and again where it has refused it for the moment. */
export function sendInPool<Answer>({ model, caller, send }: SentCall<Answer>, signal: AbortSignal) {
  if (model.pool === undefined) return send(() => undefined);
  const failureOf = (reply: Reply<Answer>) => (reply.ok ? undefined : reply.failed);
  const toReply = (failed: Failed): Reply<Answer> => ({ ok: false, failed });
  return model.pool.send({ caller, send, failureOf, toReply }, signal);
}
