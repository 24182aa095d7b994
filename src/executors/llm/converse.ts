import type { Json, JsonObject } from "../../core/json.ts";
import type { Failed, Outcome, SettleCall, Task } from "../../ports/executor.ts";
import type { GenerateRequest } from "../../ports/tools/generate.ts";
import type { Validate } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import type { Caller } from "../capacity/capacity-pool.ts";
import {
  askModel,
  sendInPool,
  streamTurn,
  type TurnCall,
  type TurnReply,
  toResponseFormat,
} from "../models/ask-model.ts";
import type { CallParameters } from "../models/call-parameters.ts";
import type { Model } from "../models/create-models.ts";
import type { AskedStep, Prompt } from "../models/language-model.ts";
import { type ModelTurn, readTurnRecord, textOf, toTurnRecord } from "../models/model-turn.ts";
import { type Paid, reserveCall, settleAnswer, toCutShort } from "../models/reserve-call.ts";
import { Spending } from "../models/spending.ts";
import { toEndFailure } from "../models/turn-end.ts";
import { settleFailed, toFailed } from "../output/failure.ts";
import { removeFence } from "../output/markdown-fence.ts";
import { describeViolations, listViolations } from "../output/violations.ts";
import { type AnswerFormat, describeFormat, readFormatted } from "./answer-format.ts";

/** A question to a model, and further turns until its answer fits. */
export interface Conversation {
  readonly model: Model;
  readonly step: Omit<AskedStep, "format" | "schema">;
  readonly prompt: GenerateRequest["prompt"];
  readonly parameters: CallParameters;
  readonly format: AnswerFormat;
  readonly schema: JsonObject | undefined;
  readonly validate: Validate | undefined;
  /** Further turns at most. */
  readonly repairs: number;
  readonly takesCut?: true | undefined;
  /** Limits one turn. */
  readonly timeoutMs: number | undefined;
  /** Keeps turns and their cost on record, and hears of calls and warnings at once. */
  readonly task: Caller & Pick<Task, "record" | "recorded" | "reserve" | "isLimited">;
}

export interface Conversed {
  readonly outcome: Outcome;
  readonly tokens: Spending["tokens"];
}

const MAX_SHOWN_CHARS = 2_000;
/** Turns that a provider may interrupt to go on in the next one. */
const MOST_PAUSES = 10;

/** Asks, reads, and asks again with what does not fit, at most `repairs` times and while there is money left. */
export async function converse(conversation: Conversation, signal: AbortSignal): Promise<Conversed> {
  const spending = new Spending(conversation.model.id);
  const prompt: Prompt = [...systemMessages(conversation), ...toMessages(conversation.prompt)];
  const fail = (failed: Failed): Conversed => ({ outcome: addTo(failed, spending), tokens: spending.tokens });
  let misfits = 0;
  for (let turn = 1; ; turn += 1) {
    const reply = await takeTurn({ conversation, prompt, turn, spending }, signal);
    if (!reply.ok) return fail(reply.failed);
    const text = textOf(reply.said);
    // Providers refuse messages without a word.
    if (text.trim() !== "") prompt.push({ role: "assistant", content: [{ type: "text", text }] });
    if (reply.said.ended === "paused" && turn - misfits <= MOST_PAUSES) continue;
    const read = await readAnswer(reply.said, conversation);
    if (read.ok) return { outcome: toSucceeded(read.value, misfits > 0, spending), tokens: spending.tokens };
    if (read.violations === undefined || misfits >= conversation.repairs) return fail(read.failed);
    misfits += 1;
    warn(conversation, `${read.failed.message} The model is asked again.`);
    prompt.push(toUser(explainMisfit(read.violations, conversation)));
  }
}

function systemMessages(conversation: Conversation): Prompt {
  const content = systemOf(conversation);
  return content === undefined ? [] : [{ role: "system", content }];
}

function toMessages(prompt: Conversation["prompt"]): Prompt {
  if (typeof prompt === "string") return [toUser(prompt)];
  return prompt.map(({ role, text }) => ({ role, content: [{ type: "text", text }] }));
}

function toUser(text: string): Prompt[number] {
  return { role: "user", content: [{ type: "text", text }] };
}

interface Turn {
  readonly conversation: Conversation;
  readonly prompt: Prompt;
  readonly turn: number;
  readonly spending: Spending;
}

type Reply = { readonly ok: true; readonly said: ModelTurn } | { readonly ok: false; readonly failed: Failed };

/** `reserved`: what it cost is not settled. */
type Asked =
  | (Extract<TurnReply, { readonly ok: true }> & { readonly reserved: Paid & { readonly settle: SettleCall } })
  | Extract<TurnReply, { readonly ok: false }>;

/** A turn on record is not asked for again. */
async function takeTurn({ conversation, prompt, turn, spending }: Turn, signal: AbortSignal): Promise<Reply> {
  const { task } = conversation;
  const key = `turn-${turn}`;
  const known = readTurnRecord(await task.recorded(key));
  if (known !== undefined) {
    spending.addUsage(known.usage);
    if (known.costMicro === null) spending.addCost(null);
    return { ok: true, said: known };
  }
  const startedAt = Date.now();
  const reply = await ask({ conversation, prompt, turn }, signal);
  const called = { kind: "model" as const, name: conversation.model.id, startedAt, endedAt: Date.now() };
  if (!reply.ok) {
    task.emit({ type: "call", call: { ...called, errorCode: reply.failed.code } });
    return reply;
  }
  const { reserved, turn: said } = reply;
  settleAnswer({ ...said, said: textOf(said) }, reserved, (what) =>
    warn(conversation, `${conversation.model.id} ${what}`),
  );
  reserved.reservation.release();
  task.emit({ type: "call", call: { ...called, inputTokens: said.usage.input, outputTokens: said.usage.output } });
  spending.add(said);
  for (const warning of reply.warnings) warn(conversation, warning);
  if (said.ended === "cut" && reserved.loweredBy !== undefined)
    return { ok: false, failed: toCutShort(conversation.model.id, reserved) };
  await task.record(key, toTurnRecord(said));
  return { ok: true, said };
}

export function warn({ task }: { readonly task: Pick<Task, "emit"> }, message: string): void {
  task.emit({ type: "log", event: { type: "warning", message } });
}

async function ask({ conversation, prompt, turn }: Omit<Turn, "spending">, signal: AbortSignal): Promise<Asked> {
  const { model, step, parameters, format, schema, timeoutMs, task } = conversation;
  const form = model.takesSchemas && format === "json" ? toResponseFormat(schema) : {};
  const call: TurnCall = {
    model,
    asked: { ...step, attempt: step.attempt + turn - 1, format, schema },
    prompt,
    tools: [],
    settings: { ...parameters.settings, ...form },
    silenceMs: timeoutMs,
    onText: (text) => task.emit({ type: "live", event: { type: "text", text } }),
  };
  // The money is there before a place is taken.
  const reserved = await reserveCall({ ...call, content: [prompt, schema] }, { task, calls: 1 });
  if (!reserved.ok) return reserved;
  const send = async (): Promise<Asked> => {
    const settle = await reserved.reservation.record();
    const asked = { ...call, settings: reserved.settings };
    const reply = await (model.kind === "endpoint" ? askModel(asked, signal) : streamTurn(asked, signal));
    if (reply.ok) return { ...reply, reserved: { ...reserved, settle } };
    settleFailed(reply.failed, settle);
    return reply;
  };
  const reply = await sendInPool({ model, caller: task, send }, signal);
  if (!reply.ok) reserved.reservation.release();
  return reply;
}

/** The system prompt: the step's own text, and the format of the answer. An endpoint is told the format in a field. */
export function systemOf({
  model,
  parameters,
  format,
  schema,
}: Pick<Conversation, "model" | "parameters" | "format" | "schema">): string | undefined {
  const described = model.kind === "endpoint" ? undefined : describeFormat(format, schema);
  const parts = [parameters.system, described].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join("\n\n");
}

type Read =
  | { readonly ok: true; readonly value: Json }
  /** `violations`: what the model can be told. */
  | { readonly ok: false; readonly failed: Failed; readonly violations?: readonly SchemaViolation[] };

async function readAnswer(said: ModelTurn, { model, format, validate, takesCut }: Conversation): Promise<Read> {
  const text = textOf(said);
  if (said.ended !== "done" && (said.ended !== "cut" || takesCut === undefined))
    return { ok: false, failed: toEndFailure(said, model.id, text) };
  if (removeFence(text) === "") {
    const message = "The model's answer was empty.";
    return { ok: false, failed: toFailed("OUTPUT_EMPTY", { message, retryable: true, effect: "none" }) };
  }
  const read = await readFormatted(text, format, validate);
  return read.ok ? read : { ok: false, violations: read.violations, failed: toMisfit(read.violations, text) };
}

function toMisfit(violations: readonly SchemaViolation[], text: string): Failed {
  const shown = describeViolations(violations.slice(0, 3), "it");
  return toFailed("OUTPUT_INVALID", {
    message: `The model's answer does not fit: ${shown}.`,
    details: {
      errors: violations.map(({ path, message }) => ({ path, message })),
      answer: text.slice(0, MAX_SHOWN_CHARS),
    },
    retryable: true,
    effect: "none",
  });
}

function explainMisfit(violations: readonly SchemaViolation[], { format, schema }: Conversation): string {
  const instruction = schema === undefined ? describeFormat(format, schema) : undefined;
  return [
    "Your answer does not fit:",
    listViolations(violations, "the answer"),
    instruction ?? "Answer again, with the corrected answer and nothing else.",
  ].join("\n");
}

function toSucceeded(output: Json, repaired: boolean, { costMicro, usage }: Spending): Outcome {
  return { status: "succeeded", output, costMicro, usage, ...(repaired ? { repaired } : {}) };
}

/** Adds the cost of earlier turns. */
function addTo(failed: Failed, spending: Spending): Failed {
  spending.addCost(failed.costMicro);
  return { ...failed, costMicro: spending.costMicro, usage: spending.usage };
}
