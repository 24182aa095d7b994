import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { ErrorCode } from "../../core/errors/error-table.ts";
import { createRedactor } from "../output/redact.ts";
import { McpFailure } from "./mcp-failure.ts";
import { STREAM_ENDED } from "./transports/http-transport.ts";

/** Facts about a server for the message of a failure. */
export interface ServerContext {
  readonly server: string;
  readonly secrets: readonly string[];
  /** The origin, for HTTP servers. */
  readonly where?: string;
  /** For processes: how it ended, and the end of its stderr. */
  readonly ending?: string;
  readonly said?: string;
}

export interface CallContext extends ServerContext {
  readonly isAborted: boolean;
  readonly isRepeatable: boolean;
}

type Effect = "none" | "unknown";

/** Nothing was asked of any tool yet. */
export function toConnectFailure(error: unknown, context: ServerContext): McpFailure {
  if (error instanceof McpFailure) return error;
  const failure = (code: ErrorCode, message: string, retryable: boolean) =>
    create(code, { message, retryable, effect: "none", error, context });
  if (context.where !== undefined) {
    const status = statusOf(error);
    if (isUnauthorized(error))
      return failure("MCP_UNAUTHORIZED", `The MCP server ${shown(context)} refused the key.`, false);
    const isLasting = status !== undefined && status < 500 && status !== 429;
    return failure(
      "MCP_UNREACHABLE",
      `The MCP server ${shown(context)} cannot be reached: ${reasonOf(error)}.`,
      !isLasting,
    );
  }
  if (isSystemError(error) && error.syscall.startsWith("spawn"))
    return failure(
      "MCP_SERVER_FAILED",
      `The MCP server ${shown(context)} did not start: ${error.code} (${error.message}).`,
      false,
    );
  const reason = context.ending === undefined ? reasonOf(error) : `it ended (${context.ending})`;
  return failure(
    "MCP_SERVER_FAILED",
    `The MCP server ${shown(context)} could not be used: ${reason}.${saidBy(context)}`,
    true,
  );
}

/** The tool may have done something. */
export function toCallFailure(error: unknown, context: CallContext): McpFailure {
  if (error instanceof McpFailure) return error;
  const failure = (code: ErrorCode, message: string, facts: { retryable: boolean; effect: Effect }) =>
    create(code, { message, ...facts, error, context });
  const unknown = { retryable: context.isRepeatable, effect: "unknown" } as const;
  if (context.isAborted)
    return failure("INTERRUPTED", "The call was cancelled.", { retryable: true, effect: "unknown" });
  if (isUnauthorized(error))
    return failure("MCP_UNAUTHORIZED", `The MCP server ${shown(context)} refused the key.`, {
      retryable: false,
      effect: "none",
    });
  if (error instanceof SdkHttpError) return toHttpFailure(error, context);
  if (error instanceof ProtocolError && error.code !== STREAM_ENDED) return toProtocolFailure(error, context);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.RequestTimeout)
      return failure("TIMEOUT", `The MCP server ${shown(context)} gave no sign of life in time.`, unknown);
    if (error.code !== SdkErrorCode.ConnectionClosed && error.code !== SdkErrorCode.NotConnected) {
      return failure(
        "MCP_RESULT_INVALID",
        `The MCP server ${shown(context)} gave an answer that cannot be used: ${error.message}`,
        unknown,
      );
    }
  }
  if (context.where !== undefined) return toBrokenOff(error, context);
  const ending = context.ending === undefined ? "" : ` (${context.ending})`;
  return failure(
    "MCP_SERVER_FAILED",
    `The MCP server ${shown(context)} ended during the call${ending}.${saidBy(context)}`,
    unknown,
  );
}

function toBrokenOff(error: unknown, context: CallContext): McpFailure {
  const reason = reasonOf(error);
  if (reason === "ECONNREFUSED") {
    const message = `The MCP server ${shown(context)} cannot be reached: ${reason}.`;
    return create("MCP_UNREACHABLE", { message, retryable: true, effect: "none", error, context });
  }
  const message = `The connection to the MCP server ${shown(context)} broke off: ${reason}.`;
  return create("MCP_UNREACHABLE", { message, retryable: context.isRepeatable, effect: "unknown", error, context });
}

function toHttpFailure(error: SdkHttpError, context: CallContext): McpFailure {
  const { status } = error;
  const message = `The MCP server ${shown(context)} answered with HTTP ${status}.`;
  // Refused before anything was done, or broken on the way.
  const isRefused = status < 500 || status === 503;
  const facts = isRefused
    ? ({ retryable: status === 429 || status === 503, effect: "none" } as const)
    : ({ retryable: context.isRepeatable, effect: "unknown" } as const);
  const hasLostSession = status === 404 || status === 400;
  return create("MCP_UNREACHABLE", { message, ...facts, hasLostSession, error, context });
}

function toProtocolFailure(error: ProtocolError, context: CallContext): McpFailure {
  if (error.code === ProtocolErrorCode.InvalidParams) {
    return create("MCP_ARGUMENTS_INVALID", {
      message: error.message,
      retryable: false,
      effect: "none",
      error,
      context,
    });
  }
  const message = `The MCP server ${shown(context)} answered with an error: ${error.message} (${error.code}).`;
  return create("MCP_TOOL_FAILED", { message, retryable: true, effect: "unknown", error, context });
}

const MAX_MESSAGE_CHARS = 6_000;

interface Facts {
  readonly message: string;
  readonly retryable: boolean;
  readonly effect: Effect;
  readonly hasLostSession?: boolean;
  readonly error: unknown;
  readonly context: ServerContext;
}

function create(code: ErrorCode, { message, error, context, ...facts }: Facts): McpFailure {
  // Masked before it is shortened, or a key could be cut in two and slip through.
  const shownMessage = createRedactor(context.secrets).text(message).slice(0, MAX_MESSAGE_CHARS);
  return new McpFailure(code, { ...facts, message: shownMessage, cause: error });
}

function shown({ server, where }: ServerContext): string {
  return where === undefined ? `"${server}"` : `"${server}" (${where})`;
}

function saidBy({ said = "" }: ServerContext): string {
  return said === "" ? "" : ` The end of its stderr:\n${said}`;
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof UnauthorizedError || [401, 403].includes(statusOf(error) ?? 0);
}

function statusOf(error: unknown): number | undefined {
  return error instanceof SdkHttpError ? error.status : undefined;
}

/** `fetch failed` says nothing; what failed stands in its cause. */
function reasonOf(error: unknown): string {
  if (error instanceof SdkHttpError) return `HTTP ${error.status}`;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return "it did not answer in time";
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  return isSystemError(error) ? error.code : error.message.replace(/\.$/, "");
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
