import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Failed, Outcome, Task } from "../../ports/executor.ts";
import type { Validate } from "../../schemas/json-schemas.ts";
import type { SchemaViolation } from "../../schemas/schema-compiler.ts";
import type { Caller } from "../capacity/capacity-pool.ts";
import { askModel, type Message, type ModelAnswer, type ModelCall } from "../models/ask-model.ts";
import type { CallParameters } from "../models/call-parameters.ts";
import type { Model } from "../models/create-models.ts";
import type { AskedStep } from "../models/language-model.ts";
import { type Paid, reserveCall, settleAnswer, toOutspent } from "../models/reserve-call.ts";
import { sendInPool } from "../models/send-in-pool.ts";
import { readSpentRecord, Spending, toSpentRecord } from "../models/spending.ts";
import { settleFailed, toFailed } from "../output/failure.ts";
import { removeFence } from "../output/markdown-fence.ts";
import { describeViolations, listViolations } from "../output/violations.ts";
import { type AnswerFormat, describeFormat, readFormatted } from "./answer-format.ts";

/** A question to a model, and further turns until its answer fits. */
export interface Conversation {
  readonly model: Model;
  readonly step: Omit<AskedStep, "format" | "schema">;
  readonly prompt: string;
  readonly parameters: CallParameters;
  readonly format: AnswerFormat;
  readonly schema: JsonObject | undefined;
  readonly validate: Validate | undefined;
  /** Further turns at most. */
  readonly repairs: number;
  /** Limits one turn. */
  readonly timeoutMs: number | undefined;
  /** Keeps turns and their cost on record, and hears of calls and warnings at once. */
  readonly task: Caller & Pick<Task, "record" | "recorded" | "reserve" | "leftMicro">;
}

export interface Conversed {
  readonly outcome: Outcome;
  readonly tokens: Spending["tokens"];
}

const MAX_SHOWN_CHARS = 2_000;

/** Asks, reads, and asks again with what does not fit, at most `repairs` times and while there is money left. */
export async function converse(conversation: Conversation, signal: AbortSignal): Promise<Conversed> {
  const spending = new Spending(conversation.model.id);
  const messages: Message[] = [{ by: "user", text: conversation.prompt }];
  for (let turn = 1; ; turn += 1) {
    const reply = await takeTurn({ conversation, messages, turn, spending }, signal);
    if (!reply.ok) return { outcome: addTo(reply.failed, spending), tokens: spending.tokens };
    const { answer } = reply;
    const read = await readAnswer(answer, conversation);
    if (read.ok) return { outcome: toSucceeded(read.value, turn, spending), tokens: spending.tokens };
    if (read.violations === undefined || turn > conversation.repairs)
      return { outcome: addTo(read.failed, spending), tokens: spending.tokens };
    warn(conversation, `${read.failed.message} The model is asked again.`);
    messages.push(
      { by: "model", text: answer.text },
      { by: "user", text: explainMisfit(read.violations, conversation) },
    );
  }
}

interface Turn {
  readonly conversation: Conversation;
  readonly messages: readonly Message[];
  readonly turn: number;
  readonly spending: Spending;
}

type Reply = { readonly ok: true; readonly answer: ModelAnswer } | { readonly ok: false; readonly failed: Failed };

/** `reserved`: what it cost is not settled. */
type Asked =
  | (Extract<Reply, { readonly ok: true }> & { readonly reserved: Paid })
  | Extract<Reply, { readonly ok: false }>;

/** A turn on record is not asked for again. */
async function takeTurn({ conversation, messages, turn, spending }: Turn, signal: AbortSignal): Promise<Reply> {
  const { task } = conversation;
  const key = `turn-${turn}`;
  const known = readTurnRecord(await task.recorded(key));
  if (known !== undefined) {
    spending.addUsage(known.usage);
    if (known.costMicro === null) spending.addCost(null);
    return { ok: true, answer: known };
  }
  const startedAt = Date.now();
  const reply = await ask({ conversation, messages, turn }, signal);
  const called = { kind: "model" as const, name: conversation.model.id, startedAt, endedAt: Date.now() };
  if (!reply.ok) {
    task.emit({ type: "call", call: { ...called, errorCode: reply.failed.code } });
    return reply;
  }
  const { reserved } = reply;
  settleAnswer({ ...reply.answer, said: reply.answer.text }, reserved, (what) =>
    warn(conversation, `${conversation.model.id} ${what}`),
  );
  const { answer } = reply;
  const tokens = { inputTokens: answer.usage.input, outputTokens: answer.usage.output };
  task.emit({ type: "call", call: { ...called, ...tokens } });
  spending.add(answer);
  for (const warning of answer.warnings) warn(conversation, warning);
  if (answer.ended === "cut" && reserved.isLowered) {
    const message = `What is left of the budget was too little for an answer of ${conversation.model.id}.`;
    return { ok: false, failed: toOutspent(message, { needsMicro: reserved.needsMicro, isOwn: false }) };
  }
  await task.record(key, toTurnRecord(answer));
  return { ok: true, answer };
}

export function warn({ task }: { readonly task: Pick<Task, "emit"> }, message: string): void {
  task.emit({ type: "log", event: { type: "warning", message } });
}

function ask(asking: Omit<Turn, "spending">, signal: AbortSignal): Promise<Asked> {
  const { task } = asking.conversation;
  const call = toCall(asking);
  const send = async (): Promise<Asked> => {
    const { model, asked, system, messages, settings } = call;
    const content = [system, messages, asked.schema];
    const reserved = await reserveCall({ model, asked, settings, content }, { task, calls: 1 });
    if (!reserved.ok) return reserved;
    const reply = await askModel({ ...call, settings: reserved.settings }, signal);
    if (reply.ok) return { ...reply, reserved };
    settleFailed(reply.failed, reserved.settle);
    return reply;
  };
  return sendInPool({ model: call.model, caller: task, send }, signal);
}

function toCall({ conversation, messages, turn }: Omit<Turn, "spending">): ModelCall {
  const { model, step, parameters, format, schema, timeoutMs } = conversation;
  const asked = { ...step, attempt: step.attempt + turn - 1, format, schema };
  const system = systemOf(conversation);
  return { model, asked, system, messages, settings: parameters.settings, timeoutMs };
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

async function readAnswer({ text, ended }: ModelAnswer, conversation: Conversation): Promise<Read> {
  const { model, format, validate } = conversation;
  if (ended === "filtered")
    return unusable("MODEL_REFUSED", `The content filter of ${model.id} stopped the answer.`, text);
  if (ended === "broken")
    return unusable("MODEL_UNAVAILABLE", `The provider of ${model.id} broke its answer off.`, text);
  const isCut = ended === "cut";
  if (removeFence(text) === "" && !isCut) return unusable("OUTPUT_EMPTY", "The model's answer was empty.", text);
  const read = await readFormatted({ text, isCut }, format, validate);
  if (read.ok) return read;
  if (isCut) return unusable("OUTPUT_CUT", `The answer of ${model.id} was cut off at the token limit.`, text);
  const { violations } = read;
  return { ok: false, violations, failed: toMisfit(violations, text) };
}

const RETRYABLE: ReadonlySet<string> = new Set(["MODEL_UNAVAILABLE", "OUTPUT_EMPTY"]);

function unusable(code: ErrorCode, message: string, text: string): Read {
  const details = { answer: text.slice(0, MAX_SHOWN_CHARS) };
  return { ok: false, failed: toFailed(code, { message, details, retryable: RETRYABLE.has(code), effect: "none" }) };
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

function toSucceeded(output: Json, turn: number, { costMicro, usage }: Spending): Outcome {
  return { status: "succeeded", output, costMicro, usage, ...(turn > 1 ? { repaired: true } : {}) };
}

/** Adds the cost of earlier turns. */
function addTo(failed: Failed, spending: Spending): Failed {
  spending.addCost(failed.costMicro);
  return { ...failed, costMicro: spending.costMicro, usage: spending.usage };
}

const ENDS = ["whole", "cut", "filtered", "broken"] as const;

/** A model's turn as it is kept, so that a crash after it does not pay for it again. */
function toTurnRecord(answer: ModelAnswer): Json {
  const { text, ended } = answer;
  return { text, ended, ...toSpentRecord(answer) };
}

function readTurnRecord(record: Json | undefined): ModelAnswer | undefined {
  if (!isJsonObject(record) || typeof record["text"] !== "string") return undefined;
  return {
    text: record["text"],
    ended: ENDS.find((end) => end === record["ended"]) ?? "whole",
    ...readSpentRecord(record),
    warnings: [],
  };
}
