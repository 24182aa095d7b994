import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { FailureFacts } from "../output/failure.ts";
import { createRedactor } from "../output/redact.ts";
import { showStart } from "../output/shown-text.ts";
import { McpFailure } from "./mcp-failure.ts";
import { STREAM_ENDED } from "./transports/http-transport.ts";
import { UNREADABLE } from "./transports/message-reader.ts";

/** Facts about a server for the message of a failure. */
export interface ServerContext {
  readonly server: string;
  readonly secrets: readonly string[];
  /** The origin, for HTTP servers. */
  readonly where?: string;
  /** For processes: how it ended, and the end of its stderr. */
  readonly ending?: string;
  readonly hasDied?: "by itself" | "by a signal";
  readonly said?: string;
  /** What it was asked for. */
  readonly asked?: string | undefined;
  /** The last that came from it and was no message. */
  readonly noise: string;
}

export interface CallContext extends ServerContext {
  readonly isAborted: boolean;
  /** Calling the tool again does no harm. */
  readonly isRepeatable: boolean;
  /** The server knows us by a session, which it may forget. */
  readonly hasSession: boolean;
}

/** A failure, before its message is masked. */
interface Meaning extends FailureFacts {
  readonly code: ErrorCode;
  readonly hasLostSession?: boolean;
}

/** Nothing was done, and another try would not help, or would. */
const REFUSED = { retryable: false, effect: "none" } as const;
const PASSING = { retryable: true, effect: "none" } as const;
/** It is unknown what was done, as when this process dies or time runs out: the step is tried again unless it may run only once. */
const UNKNOWN = { retryable: true, effect: "unknown" } as const;

const DIED = { workerDied: true } as const;

/** Nothing was asked of any tool yet. */
export function toConnectFailure(error: unknown, context: ServerContext): McpFailure {
  return findFailure(error) ?? create(explainConnect(error, context), error, context);
}

function explainConnect(error: unknown, context: ServerContext): Meaning {
  const server = `The MCP server ${shown(context)}`;
  const refused = findRefusal(error);
  if (refused !== undefined) return { code: refused.code, message: `${server}: ${refused.message}`, ...REFUSED };
  if (context.where !== undefined) {
    if (isUnauthorized(error)) return { code: "MCP_UNAUTHORIZED", message: `${server} refused the key.`, ...REFUSED };
    const status = statusOf(error);
    const isLasting = status !== undefined && status < 500 && status !== 429;
    const message = `${server} cannot be reached: ${reasonOf(error, context)}.`;
    return { code: "MCP_UNREACHABLE", message, ...(isLasting ? REFUSED : PASSING) };
  }
  if (isSystemError(error) && error.syscall.startsWith("spawn")) {
    const message = `${server} did not start: ${error.code} (${error.message}).`;
    return { code: "MCP_SERVER_FAILED", message, ...REFUSED };
  }
  const reason = context.ending === undefined ? reasonOf(error, context) : `it ended (${context.ending})`;
  const message = `${server} could not be used: ${reason}.${saidBy(context)}`;
  // A server that ends by itself before it is asked for anything cannot start; one that is killed can.
  return { code: "MCP_SERVER_FAILED", message, ...PASSING, ...(context.hasDied === "by a signal" ? DIED : {}) };
}

/** Our own, of an address that may not be asked. The SDK wraps what its transport throws. */
function findRefusal(error: unknown): PawlError | undefined {
  if (isPawlError(error)) return error;
  return error instanceof Error && error.cause !== undefined ? findRefusal(error.cause) : undefined;
}

/** Our own, of a login: nothing was done. */
function findFailure(error: unknown): McpFailure | undefined {
  if (error instanceof McpFailure) return error;
  return error instanceof Error && error.cause !== undefined ? findFailure(error.cause) : undefined;
}

/** The tool may have done something. */
export function toCallFailure(error: unknown, context: CallContext): McpFailure {
  return findFailure(error) ?? create(explainCall(error, context), error, context);
}

function explainCall(error: unknown, context: CallContext): Meaning {
  const server = `The MCP server ${shown(context)}`;
  // The tool may have acted, and the same again is no better answer: only one that may be repeated is.
  const lost = { retryable: context.isRepeatable, effect: "unknown" } as const;
  // What a server printed may have been its answer.
  const silent = context.noise === "" ? UNKNOWN : lost;
  if (context.isAborted)
    return { code: "INTERRUPTED", message: `The call was cancelled${printed(context)}.`, ...silent };
  if (isUnauthorized(error)) return { code: "MCP_UNAUTHORIZED", message: `${server} refused the key.`, ...REFUSED };
  if (error instanceof SdkHttpError) {
    const { status } = error;
    // Refused before anything was done, or broken on the way.
    const isRefused = status < 500 || status === 503;
    const facts = !isRefused ? lost : status === 429 || status === 503 ? PASSING : REFUSED;
    const hasLostSession = context.hasSession && (status === 404 || status === 400);
    return {
      code: "MCP_UNREACHABLE",
      message: `${server} answered with ${statusText(error, context)}.`,
      ...facts,
      hasLostSession,
    };
  }
  if (error instanceof ProtocolError && error.code === UNREADABLE)
    return { code: "MCP_RESULT_INVALID", message: `${server} cannot be understood: ${error.message}.`, ...lost };
  if (error instanceof ProtocolError && error.code !== STREAM_ENDED) {
    if (error.code === ProtocolErrorCode.InvalidParams)
      return { code: "MCP_ARGUMENTS_INVALID", message: error.message, ...REFUSED };
    const message = `${server} answered with an error: ${error.message} (${error.code}).`;
    return { code: "MCP_TOOL_FAILED", message, ...UNKNOWN, isAnswered: true };
  }
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout)
      return { code: "TIMEOUT", message: `${server} gave no sign of life in time${printed(context)}.`, ...silent };
    if (error.code !== SdkErrorCode.ConnectionClosed && error.code !== SdkErrorCode.NotConnected) {
      const message = `${server} gave an answer that cannot be used: ${error.message}`;
      return { code: "MCP_RESULT_INVALID", message, ...lost };
    }
  }
  if (context.where === undefined) {
    const ending = context.ending === undefined ? "" : ` (${context.ending})`;
    const message = `${server} ended during the call${ending}.${saidBy(context)}`;
    return { code: "MCP_SERVER_FAILED", message, ...(context.hasDied === undefined ? lost : { ...UNKNOWN, ...DIED }) };
  }
  const reason = reasonOf(error, context);
  if (reason === "ECONNREFUSED")
    return { code: "MCP_UNREACHABLE", message: `${server} cannot be reached: ${reason}.`, ...PASSING };
  const message = `The connection to the MCP server ${shown(context)} broke off: ${reason}.`;
  return { code: "MCP_UNREACHABLE", message, ...lost };
}

const MAX_MESSAGE_CHARS = 6_000;

function create(
  { code, message, ...facts }: Meaning,
  error: unknown,
  { secrets, said = "" }: ServerContext,
): McpFailure {
  // Masked before it is shortened, or a key could be cut in two and slip through.
  const { text } = createRedactor(secrets);
  const shownMessage = text(message).slice(0, MAX_MESSAGE_CHARS);
  const details = code === "MCP_SERVER_FAILED" && said !== "" ? { details: { stderr: text(said) } } : {};
  return new McpFailure(code, { ...facts, ...details, message: shownMessage, cause: error });
}

function shown({ server, where }: ServerContext): string {
  return where === undefined ? `"${server}"` : `"${server}" (${where})`;
}

/** The line of its stderr that tells the cause: of a stack the error, else the last. All of it is in the details. */
function saidBy({ said = "", secrets }: ServerContext): string {
  const lines = said.split("\n").filter((line) => /^\S/.test(line) && !line.startsWith("Node.js v"));
  const cause = lines.findLast((line) => /^[\w.]*(?:Error|Exception)\b/.test(line)) ?? lines.at(-1);
  return cause === undefined ? "" : ` It wrote "${showStart(cause, createRedactor(secrets))}".`;
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof UnauthorizedError || [401, 403].includes(statusOf(error) ?? 0);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof SdkHttpError ? error.status : undefined;
}

/** `fetch failed` says nothing; what failed stands in its cause. */
function reasonOf(error: unknown, context: ServerContext): string {
  if (error instanceof SdkHttpError) return statusText(error, context);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return `it did not answer in time${context.asked === undefined ? "" : ` (\`${context.asked}\`)`}${printed(context)}`;
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause, context);
  return isSystemError(error) ? error.code : error.message.replace(/\.$/, "");
}

/** With the beginning of the page that came with it. */
function statusText({ status, data }: SdkHttpError, { secrets }: ServerContext): string {
  const page = showStart(typeof data.text === "string" ? data.text : "", createRedactor(secrets));
  return page === "" ? `HTTP ${status}` : `HTTP ${status}: ${writeExact(page)}`;
}

function printed({ noise }: ServerContext): string {
  return noise === "" ? "" : ` (the last that came and was no message: ${writeExact(noise)})`;
}

function isSystemError(error: unknown): error is Error & { readonly code: string; readonly syscall: string } {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    "syscall" in error &&
    typeof error.syscall === "string"
  );
}
