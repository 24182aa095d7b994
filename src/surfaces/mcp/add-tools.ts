import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type Tool,
} from "@modelcontextprotocol/server";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isDeeperThan } from "../../core/json-depth.ts";
import { parseJson } from "../../core/parse-json.ts";
import { MAX_REQUEST_DEPTH } from "../../operations/parse-json.ts";
import type { OfferedTool } from "../../ports/tools/tool-set.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import { fitAnswer } from "./fit-answer.ts";
import { type CallProgress, ProgressTeller } from "./progress-teller.ts";
import { type Asking, Question, toAsking } from "./question.ts";
import { STRUCTURED, toCallResult, toErrorResult } from "./to-call-result.ts";

export interface PerformedCall {
  /** Breaks the call off. */
  readonly signal: AbortSignal;
  /** From now on the caller is told from time to time how far it is, and whenever what is returned is called. */
  follow(look: () => CallProgress): () => void;
  /** Undefined: nobody can be asked anything. */
  readonly asking: Asking | undefined;
}

/** A tool of which a client knows, listed or not. */
interface FoundTool {
  readonly offered: OfferedTool;
  perform(args: JsonObject, call: PerformedCall): Promise<JsonObject | Question>;
}

export interface ListedTools {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string;
}

export interface ToolParts {
  /** Those that this client is told of: a page, and where the next one begins. */
  list(cursor: string | undefined): Promise<ListedTools>;
  find(name: string): Promise<FoundTool | undefined>;
  /** By a message that came another way than the call. */
  readonly cancelled?: AbortSignal | undefined;
  readonly calls: CallsUnderWay;
  /** About how many tokens an answer may have. */
  readonly answerTokens: number;
  /** The resource that has the whole of an answer. Undefined: there is none. */
  toUri(answer: JsonObject): string | undefined;
  /** Makes the result that tells a model of a refusal. */
  explain(error: PawlError): CallToolResult;
  /** Defects. */
  log(line: string): void;
}

/** Lists tools and does what they do: with progress, and with refusals as results that a model can act upon. */
export function addTools(server: Server, parts: ToolParts): void {
  const { cancelled } = parts;
  server.setRequestHandler("tools/list", async ({ params }) => {
    const { tools, nextCursor } = await parts.list(params?.cursor);
    return { tools: [...tools], ...(nextCursor === undefined ? {} : { nextCursor }) };
  });
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { mcpReq } = context;
    const tool = await parts.find(params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool \`${params.name}\`.`);
    const token = params._meta?.progressToken;
    const send = (progress: JsonObject) => {
      if (token === undefined) return;
      const notification = { method: "notifications/progress", params: { ...progress, progressToken: token } };
      // A client that is gone needs no progress.
      mcpReq.notify(notification).catch(() => undefined);
    };
    const signal = cancelled === undefined ? mcpReq.signal : AbortSignal.any([cancelled, mcpReq.signal]);
    const protocol = server.getNegotiatedProtocolVersion();
    const asking = toAsking(server, context);
    return parts.calls.add(answer(parts, { tool, args: params.arguments, signal, send, protocol, asking }));
  });
}

interface Call {
  readonly tool: FoundTool;
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  readonly protocol: string | undefined;
  readonly asking: Asking | undefined;
  send(progress: JsonObject): void;
}

async function answer(
  parts: ToolParts,
  { tool, args: sent, signal, send, protocol, asking }: Call,
): Promise<CallToolResult | InputRequiredResult> {
  const { toText, takesInput } = tool.offered;
  const tellers: ProgressTeller[] = [];
  const follow = (look: () => CallProgress) => {
    const teller = new ProgressTeller(look, send);
    tellers.push(teller);
    return () => teller.tell();
  };
  try {
    // It came as JSON, so it is JSON.
    const args = readArguments(sent as Json | undefined, takesInput);
    const result = await tool.perform(args, { signal, follow, asking });
    if (result instanceof Question) return result.toResult();
    if (toText !== undefined) return { content: [{ type: "text", text: toText(result) }] };
    return toBoundedResult(parts, result, protocol);
  } catch (error) {
    if (isPawlError(error)) return parts.explain(error);
    if (signal.aborted) return toErrorResult("The call was cancelled.");
    parts.log(`pawl: a defect: ${error instanceof Error ? error.stack : String(error)}`);
    return toErrorResult("The tool broke down. This is a defect of Pawl; its stderr says more.");
  } finally {
    for (const teller of tellers) teller.stop();
  }
}

const ASK_FOR_LESS = "Ask for less at a time: a page (`limit`, `cursor`), one step, the end of a screen (`tail`).";

/** No answer is longer than a model can afford; where it would be, it links to what has the rest. */
function toBoundedResult(
  { answerTokens: tokens, toUri }: ToolParts,
  answer: JsonObject,
  protocol: string | undefined,
): CallToolResult {
  const uri = toUri(answer);
  const whereRest = uri === undefined ? ASK_FOR_LESS : `The resource ${uri} has the rest. ${ASK_FOR_LESS}`;
  const fitting = fitAnswer(answer, { tokens, whereRest });
  const result = toCallResult(fitting, protocol);
  if (!("note" in fitting) || uri === undefined || (protocol ?? STRUCTURED) < STRUCTURED) return result;
  return { ...result, content: [...result.content, { type: "resource_link", uri, name: uri }] };
}

/**
 * Reads the arguments of a tool, flat or, as the Python server took it, wrapped into `{"request": {...}}`. Models write objects
 * as texts now and then; what reads as one is one. Throws `REQUEST_INVALID` where it nests too deeply.
 */
function readArguments(given: Json | undefined, isInput = false): JsonObject {
  const args = toObject(given) ?? {};
  const names = isInput ? [] : Object.keys(args);
  const wrapped = names.length === 1 && names[0] === "request" ? toObject(args["request"]) : undefined;
  const flat = wrapped ?? args;
  const definition = isInput ? undefined : toObject(flat["workflow_definition"]);
  const read = definition === undefined ? flat : { ...flat, workflow_definition: definition };
  if (!isDeeperThan(read, MAX_REQUEST_DEPTH)) return read;
  throw new PawlError("REQUEST_INVALID", {
    message: `The arguments nest more than ${MAX_REQUEST_DEPTH} levels deep.`,
  });
}

function toObject(value: Json | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return undefined;
  const read = parseJson(value);
  return isJsonObject(read) ? read : undefined;
}
