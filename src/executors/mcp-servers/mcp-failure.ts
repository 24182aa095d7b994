import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { Failed } from "../../ports/executor.ts";
import { type FailureFacts, toFailed } from "../output/failure.ts";

/** What keeps a server's tool from being found or called, as the outcome that an executor returns. */
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

/** What is under way is given up; nothing was asked of a tool yet. */
export function stoppedFailure(): McpFailure {
  return new McpFailure("INTERRUPTED", { message: "The call was cancelled.", retryable: true, effect: "none" });
}
