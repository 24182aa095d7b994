import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { Json } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { type FailureFacts, toFailed } from "../output/failure.ts";
import { untilAborted } from "../until-aborted.ts";

/** The failure to find or call a server's tool, with the outcome that an executor returns. */
export class McpFailure extends Error {
  readonly failed: Failed;
  /** The server has forgotten us, so it has not looked at the call: a new connection may repeat it. */
  readonly hasLostSession: boolean;

  constructor(code: ErrorCode, facts: FailureFacts & { readonly cause?: unknown; readonly hasLostSession?: boolean }) {
    const { cause, hasLostSession = false, ...rest } = facts;
    super(facts.message, cause === undefined ? undefined : { cause });
    this.name = "McpFailure";
    this.hasLostSession = hasLostSession;
    // Tools have no price: what a call costs is not known to us and not booked.
    this.failed = toFailed(code, { costMicro: 0, ...rest });
  }
}

/** A failure before a tool was asked, which another try would not help. */
export function refusal(code: ErrorCode, message: string, details?: Json): McpFailure {
  return new McpFailure(code, {
    message,
    retryable: false,
    effect: "none",
    ...(details === undefined ? {} : { details }),
  });
}

/** The call was cancelled before a tool was asked. `before` says what was waited for. */
export function stoppedFailure(before = ""): McpFailure {
  const message = `The call was cancelled${before}.`;
  return new McpFailure("INTERRUPTED", { message, retryable: true, effect: "none" });
}

/** Waits no longer than the caller; what is waited for goes on for others. Throws `INTERRUPTED` without an effect. */
export function untilStopped<Value>(work: Promise<Value>, signal: AbortSignal, before = ""): Promise<Value> {
  return untilAborted(work, signal, () => stoppedFailure(before));
}
