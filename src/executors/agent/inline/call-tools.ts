import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { readJson } from "../../../core/parse-json.ts";
import type { Task, TaskQuestion } from "../../../ports/executor.ts";
import type { AgentTool, SampledSpent, ToolCallResult } from "../../../ports/tools/agent-toolbox.ts";
import type { JsonSchemas } from "../../../schemas/json-schemas.ts";
import { toCallMemory } from "../../mcp-servers/asking/asking-calls.ts";
import { withoutDefaulted } from "../../mcp-servers/server-tool.ts";
import type { ToolCallPart } from "../../models/turn-parts.ts";
import { describeKnown } from "../../output/near-names.ts";
import { listViolations } from "../../output/violations.ts";
import { findForgotten } from "./hidden-typing.ts";
import { findMedia } from "./tool-media.ts";
import { findTool, namesTool } from "./tool-names.ts";
import { type ToolResult, toToolText } from "./transcript.ts";

export interface ToolCalls {
  readonly turn: number;
  readonly calls: readonly ToolCallPart[];
  /** The turn was cut off: none of its calls is made, however whole it looks. */
  readonly isCut: boolean;
  readonly tools: readonly AgentTool[];
  readonly task: Task;
  readonly validators: JsonSchemas;
  /** Names of tools that need a person's yes. */
  readonly approve: readonly string[];
  /** A tool is about to be called that may have done something even if it fails. */
  onStart(name: string): void;
  /** A model has answered for the server of a tool. */
  paid(spent: SampledSpent): void;
}

export type Called =
  | { readonly ok: true; readonly results: readonly ToolResult[] }
  /** The first call that waits for a person. Those that need none have been made. */
  | { readonly ok: false; readonly question: Question };

export interface Question {
  readonly key: string;
  readonly call: ToolCallPart;
  readonly tool: AgentTool;
  /** What the tool's server wants to know. Absent: whether the tool may be called at all. */
  readonly asked?: TaskQuestion;
}

/** Tools of one turn that run at once. */
const MAX_AT_ONCE = 8;
const MAX_LIVE_CHARS = 4_000;

const CUT = [
  "Your turn was cut off at the token limit, so none of its tool calls was made.",
  "Go on in shorter turns: with fewer calls at once, and shorter arguments.",
].join(" ");

const UNKNOWN = [
  "The outcome of this call is unknown: the program was stopped while the tool was at work.",
  "It may or may not have had its effect. Find out before you call it again.",
].join(" ");

/**
 * Answers every call of a turn, several at once. Each result is recorded before it counts; one that is on record is not
 * asked for again. That a call begins is recorded before it does: one that was cut off is made again only where the tool
 * says that this does no harm. What the model did wrong is an error that it is told, and no tool is called. Rejects only
 * when the signal aborts, and where nothing can be recorded.
 */
export async function callTools(calls: ToolCalls, signal: AbortSignal): Promise<Called> {
  const answers: (ToolResult | Question)[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < calls.calls.length; index = next++) {
      const call = calls.calls[index];
      if (call !== undefined)
        answers[index] = await answerCall(call, `turn-${calls.turn}/call-${index + 1}`, calls, signal);
    }
  };
  const workers = Array.from({ length: Math.min(MAX_AT_ONCE, calls.calls.length) }, work);
  // All of them have come to rest before anything is said of the turn.
  const broken = (await Promise.allSettled(workers)).find((settled) => settled.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  const question = answers.find((answer) => "key" in answer);
  if (question !== undefined) return { ok: false, question };
  return { ok: true, results: answers.filter((answer) => "text" in answer) };
}

async function answerCall(
  call: ToolCallPart,
  key: string,
  calls: ToolCalls,
  signal: AbortSignal,
): Promise<ToolResult | Question> {
  const { task, tools } = calls;
  const tool = findTool(call, tools);
  const hasStarted = (await task.recorded(`${key}/started`)) !== undefined;
  if (hasStarted) calls.onStart(call.name);
  const known = readResult(await task.recorded(`${key}/result`));
  if (known !== undefined) return toResult(call, known);
  const answer = await findAnswer(call, { tool, hasStarted, key, calls }, signal);
  if ("key" in answer) return answer;
  await task.record(`${key}/result`, toRecord(answer));
  const result = toResult(call, answer);
  task.emit({ type: "log", event: toLogEntry(result) });
  task.emit({ type: "live", event: toLiveEvent(result) });
  return result;
}

/** A result, and whose it is. */
interface Answer {
  readonly server?: string | undefined;
  /** The arguments that a person has put in the place of the model's. */
  readonly edited?: JsonObject | undefined;
  readonly result: ToolCallResult;
}

interface Asked {
  readonly tool: AgentTool | undefined;
  readonly hasStarted: boolean;
  readonly key: string;
  readonly calls: ToolCalls;
}

async function findAnswer(call: ToolCallPart, asked: Asked, signal: AbortSignal): Promise<Answer | Question> {
  const { tool, hasStarted, key, calls } = asked;
  const { task } = calls;
  const memory = toCallMemory(task, key);
  const goesOn = hasStarted && (tool?.isRepeatable === true || (await tool?.rests?.(memory)) === true);
  if (hasStarted && !goesOn) return { server: tool?.server, result: toError(UNKNOWN, true) };
  const wrong = await findMistake(call, tool, calls);
  if (wrong !== undefined || tool === undefined)
    return { server: tool?.server, result: toError(wrong ?? "There is no such tool.") };
  const approval = await findApproval(call, tool, asked);
  if (approval.kind === "notAsked") return { key: `${key}/approval`, call, tool };
  if (approval.kind === "no") return { server: tool.server, result: toError(approval.told) };
  const { edited } = approval;
  const wrongEdit = edited === undefined ? undefined : await findMistake({ ...call, input: edited }, tool, calls);
  if (wrongEdit !== undefined)
    return { server: tool.server, edited, result: toError(`A person has changed the arguments. ${wrongEdit}`) };
  const forgotten = findForgotten(edited ?? call.input);
  if (forgotten !== undefined) return { server: tool.server, edited, result: toError(forgotten) };
  signal.throwIfAborted();
  calls.onStart(tool.name);
  if (!hasStarted) await task.record(`${key}/started`, { tool: tool.name });
  signal.throwIfAborted();
  const startedAt = Date.now();
  const tell = (errorCode?: string) => {
    const told = { kind: "tool" as const, name: tool.name, callId: call.id, startedAt, endedAt: Date.now(), errorCode };
    task.emit({ type: "call", call: told });
  };
  const result = await callSafely(tool, edited ?? call.input, { calls, key }, signal).catch((error: unknown) => {
    tell("INTERRUPTED");
    throw error;
  });
  tell(result.isError ? "TOOL_FAILED" : undefined);
  if (result.asks !== undefined) return { key: result.asks.key, call, tool, asked: result.asks };
  // A tool that finished although it was told to stop counts. Otherwise its outcome is unknown, and the next attempt says so.
  if (result.isError) signal.throwIfAborted();
  return { server: tool.server, edited, result };
}

async function findApproval(call: ToolCallPart, tool: AgentTool, { key, calls }: Asked): Promise<Approval> {
  if (!namesTool(calls.approve, tool)) return { kind: "go" };
  return readApproval(await calls.task.recorded(`${key}/approval`), call);
}

async function callSafely(
  tool: AgentTool,
  args: JsonObject,
  { calls: { task, paid }, key }: Pick<Asked, "calls" | "key">,
  signal: AbortSignal,
): Promise<ToolCallResult> {
  const { name } = tool;
  const onProgress = (message: string) => task.emit({ type: "log", event: { type: "tool_progress", name, message } });
  try {
    return await tool.call(
      args,
      {
        idempotencyKey: `${task.idempotencyKey}:${key}`,
        traceParent: task.traceParent,
        memory: toCallMemory(task, key, paid),
        onProgress,
      },
      signal,
    );
  } catch (error) {
    signal.throwIfAborted();
    // A defect of ours, and nothing that the agent can mend; but it may know another way.
    return toError(`The tool failed: ${error instanceof Error ? error.message : String(error)}`, true);
  }
}

/** Explains to the model what is wrong with its call. Undefined: nothing is wrong. */
async function findMistake(
  call: ToolCallPart,
  tool: AgentTool | undefined,
  { tools, validators, isCut }: ToolCalls,
): Promise<string | undefined> {
  if (isCut) return CUT;
  if (tool === undefined) {
    const known = describeKnown(
      call.name,
      tools.map(({ name }) => name),
    );
    return `There is no tool \`${call.name}\` that you may use. ${known}`;
  }
  if (call.unreadable !== undefined) {
    const read = readJson(call.unreadable);
    const why = !read.ok && read.isJson ? read.flaw : "are not a JSON object";
    return `The arguments ${why}. Nothing was done. Call the tool again, with an object that fits its schema.`;
  }
  const compiled = await validators.compile(withoutDefaulted(tool.inputSchema));
  // The tool itself judges arguments whose schema cannot be used.
  const violations = compiled.ok ? await compiled.validate(call.input) : [];
  if (violations.length === 0) return undefined;
  const listed = listViolations(violations, "the arguments");
  return `The arguments do not fit the tool's schema. Nothing was done. Mend them, and call it again:\n${listed}`;
}

function toError(text: string, outcomeUnknown = false): ToolCallResult {
  return { isError: true, text, content: [], ...(outcomeUnknown ? { outcomeUnknown } : {}) };
}

function toRecord({ server, edited, result }: Answer): Json {
  const { isError, text, structured, content, outcomeUnknown } = result;
  return {
    is_error: isError,
    text,
    ...(structured === undefined ? {} : { structured }),
    content,
    ...(outcomeUnknown === true ? { outcome_unknown: true } : {}),
    ...(server === undefined ? {} : { server }),
    ...(edited === undefined ? {} : { edited }),
  };
}

function readResult(record: Json | undefined): Answer | undefined {
  if (!isJsonObject(record) || typeof record["text"] !== "string") return undefined;
  const { structured, server, edited, content } = record;
  return {
    edited: isJsonObject(edited) ? edited : undefined,
    server: typeof server === "string" ? server : undefined,
    result: {
      isError: record["is_error"] === true,
      text: record["text"],
      ...(structured === undefined ? {} : { structured }),
      content: Array.isArray(content) ? content : [],
    },
  };
}

function toResult(call: ToolCallPart, { server, edited, result }: Answer): ToolResult {
  const changed = edited === undefined ? "" : `(A person changed the arguments to ${writeExact(edited)}.)\n`;
  return {
    call,
    text: `${changed}${toToolText(result)}`,
    media: findMedia(result.content),
    edited,
    isError: result.isError,
    server,
  };
}

function toLogEntry({ call, text, isError, server }: ToolResult): JsonObject {
  const content = [{ type: "tool_result", tool_use_id: call.id, content: text, is_error: isError }];
  return {
    type: "user",
    message: { role: "user", content },
    tool: call.name,
    ...(server === undefined ? {} : { server }),
  };
}

function toLiveEvent({ call, text, isError }: ToolResult): JsonObject {
  return { type: "tool_result", id: call.id, name: call.name, is_error: isError, text: text.slice(0, MAX_LIVE_CHARS) };
}

/** A person's answer to a call that needs approval. */
type Approval =
  | { readonly kind: "notAsked" }
  /** `edited`: the person has put other arguments in the place of the model's. */
  | { readonly kind: "go"; readonly edited?: JsonObject }
  /** The text that the model gets instead of a result. */
  | { readonly kind: "no"; readonly told: string };

function readApproval(record: Json | undefined, { input }: ToolCallPart): Approval {
  if (!isJsonObject(record)) return { kind: "notAsked" };
  const { answer, comment, edited } = record;
  const said = typeof comment === "string" && comment !== "" ? ` They say: ${comment}` : "";
  if (answer === "skip") return { kind: "no", told: `A person has skipped this call: it was not done.${said}` };
  if (answer !== "approve") return { kind: "no", told: `A person has not allowed this call: it was not done.${said}` };
  if (edited === undefined || writeExact(edited) === writeExact(input)) return { kind: "go" };
  return isJsonObject(edited)
    ? { kind: "go", edited }
    : {
        kind: "no",
        told: "A person has put something in the place of the arguments that is no object: nothing was done.",
      };
}
