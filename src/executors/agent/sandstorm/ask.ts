import { isPawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import type { Failed, Outcome, Reservation, SettleCall, Task } from "../../../ports/executor.ts";
import type { Outbound, OutboundAnswer } from "../../../ports/outbound.ts";
import type { Validate } from "../../../schemas/json-schemas.ts";
import type { Accepted } from "../../capacity/capacity-pool.ts";
import { readRetryAfter } from "../../capacity/throttle.ts";
import { settleFailed, toFailed, toInterrupted, toRefused } from "../../output/failure.ts";
import type { Redactor } from "../../output/redact.ts";
import type { AgentInput } from "../agent-input.ts";
import type { Keys, Server } from "./choose-server.ts";
import { addDocument, type Conversation, createConversation } from "./conversation.ts";
import { type Decoded, EventTooLargeError, readDocuments } from "./document-decoder.ts";
import type { EventLog } from "./event-log.ts";
import { type RequestTimeouts, readText } from "./request-timeouts.ts";
import { type Ending, toOutcome, toUnanswered } from "./to-outcome.ts";

const MAX_REFUSAL_BYTES = 64 * 1024;

export interface Line {
  readonly task: Task;
  readonly server: Server;
  readonly outbound: Outbound;
  readonly timeouts: RequestTimeouts;
  readonly log: EventLog;
  readonly redactor: Redactor;
  readonly afterResultMs: number;
  /** How many calls of the attempt the agent has answered with an overload. */
  readonly overloads: number;
  /** What the agent may spend. Undefined: nothing limits it. */
  readonly maxCostMicro: number | undefined;
  readonly loweredBy: Reservation["loweredBy"];
  record(): Promise<SettleCall>;
  onWorking: Accepted;
}

/** One query, from opening the connection to closing it. */
export async function ask(input: AgentInput, line: Line, validate: Validate | undefined): Promise<Outcome> {
  const settle = await line.record();
  const outcome = await query(input, line, validate);
  if (outcome.status === "failed") settleFailed(outcome, settle);
  else settle(outcome.costMicro);
  return outcome;
}

async function query(input: AgentInput, line: Line, validate: Validate | undefined): Promise<Outcome> {
  const response = await openQuery(input, line);
  if (response instanceof Error) return toUnopened(response, line);
  try {
    const refusal = await findRefusal(response, line);
    if (refusal !== undefined) return refusal;
    const conversation = createConversation();
    const ending = await listen(response, conversation, line);
    for (const problem of conversation.fileProblems) line.log.note(`A produced file was not kept: ${problem}.`);
    return await toOutcome(conversation, ending, { validate, ...line });
  } finally {
    response.body.destroy();
  }
}

async function openQuery(
  input: AgentInput,
  { task, server, outbound, timeouts, overloads, maxCostMicro }: Line,
): Promise<OutboundAnswer | Error> {
  // The body of POST /query. Servers ignore fields that they do not know yet.
  const body = writeExact({
    prompt: input.prompt,
    ...(input.model !== undefined && { model: input.model }),
    ...(input.maxTurns !== undefined && { max_turns: input.maxTurns }),
    ...(input.timeoutS !== undefined && { timeout: clampTimeout(input.timeoutS) }),
    ...(input.outputSchema !== undefined && { output_format: { type: "json_schema", schema: input.outputSchema } }),
    ...(input.files !== undefined && { files: input.files }),
    ...(maxCostMicro !== undefined && maxCostMicro > 0 && { max_budget_usd: maxCostMicro / 1_000_000 }),
    ...(server.keys.anthropicApiKey !== undefined && { anthropic_api_key: server.keys.anthropicApiKey.trim() }),
    ...(server.keys.e2bApiKey !== undefined && { e2b_api_key: server.keys.e2bApiKey.trim() }),
  });
  const headers = toQueryHeaders({ task, keys: server.keys, body, overloads });
  try {
    const { queryUrl, reach } = server;
    const asked = { url: queryUrl.href, method: "POST", headers, body, reach, onConnected: timeouts.connected };
    return await outbound.open(asked, timeouts.signal);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function findRefusal(response: OutboundAnswer, { server, redactor }: Line): Promise<Failed | undefined> {
  const { status } = response;
  if (status !== 200) {
    const { location } = response.headers;
    const retryAfter = readRetryAfter(response.headers);
    // Masked before it is shortened, or a key could be cut in two and slip through.
    const body = redactor.text(await readText(response.body, MAX_REFUSAL_BYTES));
    return toRefusal({ status, location, retryAfter, body }, server);
  }
  const encoding = response.headers["content-encoding"] ?? "identity";
  const type = response.headers["content-type"] ?? "";
  if (encoding === "identity" && type.startsWith("text/event-stream")) return undefined;
  const message = `${server.shownUrl} did not answer with an event stream (${encoding}, ${type || "no content type"}). Is it a Sandstorm server?`;
  return toFailed("AGENT_REFUSED", { message, retryable: false, effect: "unknown" });
}

/** Hears the stream to its end. Files follow the result, so that is not the end; an error is. */
async function listen(response: OutboundAnswer, conversation: Conversation, line: Line): Promise<Ending> {
  try {
    for await (const decoded of readDocuments(response.body, { onBytes: line.timeouts.refresh })) {
      const clean = redactDecoded(decoded, line.redactor);
      line.log.add(clean);
      if (clean.kind === "document") addDocument(conversation, clean.document);
      if (conversation.hasBegun) line.onWorking();
      if (conversation.result !== undefined) line.timeouts.endWithin(line.afterResultMs);
      else if (conversation.error !== undefined) return { by: "eof" };
    }
    return { by: "eof" };
  } catch (error) {
    const cutOff = line.timeouts.cutOff();
    if (cutOff !== undefined) return { by: "us", cutOff };
    if (error instanceof EventTooLargeError) return { by: "size" };
    return { by: "break", reason: nameOf(error) };
  }
}

/** No answer began. Until the connection stood, the server cannot have done anything. */
function toUnopened(error: Error, { timeouts, server }: Line): Failed {
  const effect = timeouts.isConnected() ? "unknown" : "none";
  if (timeouts.cutOff() === "stopped") return toInterrupted(effect);
  if (timeouts.cutOff() === "idle") return toUnanswered({ by: "us", cutOff: "idle" });
  if (timeouts.isConnected()) {
    const message = `The agent server at ${server.shownUrl} closed the connection before it answered (${nameOf(error)}).`;
    return toFailed("AGENT_STREAM_CUT", { message, retryable: true, effect });
  }
  if (isPawlError(error)) return toRefused(error.code, `${server.shownUrl}: ${error.message}`);
  const reason = timeouts.cutOff() === "unconnected" ? "no connection in time" : nameOf(error);
  return toFailed("AGENT_UNREACHABLE", {
    message: `${server.shownUrl} cannot be reached (${reason}).`,
    retryable: true,
    effect,
  });
}

/** The code where there is one: messages of sockets and TLS are long and differ between versions. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}

function redactDecoded(decoded: Decoded, redactor: Redactor): Decoded {
  if (decoded.kind === "noise") return { kind: "noise", text: redactor.text(decoded.text) };
  return { kind: "document", document: redactor.json(decoded.document) };
}

const MIN_TIMEOUT_S = 5;
const MAX_TIMEOUT_S = 3_600;

interface HeaderFacts extends Pick<Line, "task" | "overloads"> {
  readonly keys: Keys;
  readonly body: string;
}

function toQueryHeaders({ task, keys, body, overloads }: HeaderFacts): Record<string, string> {
  // A server that has answered may only say the same again under the same key.
  const key = overloads === 0 ? task.idempotencyKey : `${task.idempotencyKey}:${overloads}`;
  return {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    accept: "text/event-stream",
    // Never compressed: a small answer that unpacks to gigabytes cannot be sent to us.
    "accept-encoding": "identity",
    "idempotency-key": encodeURIComponent(key),
    ...(task.traceParent !== undefined && { traceparent: task.traceParent }),
    ...(keys.apiKey !== undefined && { authorization: `Bearer ${keys.apiKey.trim()}` }),
  };
}

function clampTimeout(timeoutS: number): number {
  return Math.min(MAX_TIMEOUT_S, Math.max(MIN_TIMEOUT_S, Math.ceil(timeoutS)));
}

interface HttpAnswer {
  readonly status: number;
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
  readonly body: string;
}

const MAX_SHOWN_CHARS = 2_000;

/** Unavailable for the moment, overloaded: the request was not taken. */
const UNDONE: ReadonlySet<number> = new Set([503, 529]);

/** Turns an HTTP status other than 200 into a failure of the attempt. */
function toRefusal(answer: HttpAnswer, server: Server): Failed {
  const { status } = answer;
  const reason = readReason(answer);
  const details = {
    status,
    answer: reason,
    ...(answer.retryAfter !== undefined && { retry_after: answer.retryAfter }),
  };
  const who = `The agent server at ${server.shownUrl}`;

  if (status === 401 || status === 403) {
    const message = `${who} answered ${status}: ${reason}${server.keysWithheld ? KEYS_WITHHELD : ""}`;
    return toFailed("AGENT_UNAUTHORIZED", { message, retryable: false, effect: "none", details });
  }
  if (status >= 500) {
    const message = `${who} failed with ${status}: ${reason}`;
    const effect = UNDONE.has(status) ? "none" : "unknown";
    return toFailed("AGENT_FAILED", { message, retryable: true, effect, details });
  }
  const message = `${who} refused the request with ${status}: ${reason}${server.keysWithheld ? KEYS_WITHHELD : ""}`;
  return toFailed("AGENT_REFUSED", { message, retryable: status === 429, effect: "none", details });
}

const KEYS_WITHHELD = " (The definition names another server than the configured one, so no keys were sent to it.)";

/** The server's words, without the request that a validation error repeats. */
function readReason(answer: HttpAnswer): string {
  if (answer.location !== undefined) return `it redirects to ${answer.location}, which is not followed`;
  const body = parseJson(answer.body);
  const detail = isJsonObject(body) ? (body["detail"] ?? body["error"] ?? body["message"]) : undefined;
  const text = describeDetail(detail) ?? answer.body.trim();
  return text === "" ? "no reason given" : text.slice(0, MAX_SHOWN_CHARS);
}

function describeDetail(detail: Json | undefined): string | undefined {
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return undefined;
  const problems: readonly Json[] = detail;
  return problems
    .flatMap((problem) => (isJsonObject(problem) ? [describeProblem(problem["loc"], problem["msg"])] : []))
    .join("; ");
}

function describeProblem(place: Json | undefined, message: Json | undefined): string {
  const words = typeof message === "string" ? message : "not valid";
  return Array.isArray(place) ? `${place.join(".")}: ${words}` : words;
}
