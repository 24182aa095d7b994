import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { Effect } from "../../core/history/events.ts";
import type { Json } from "../../core/json.ts";
import type { Failed, SettleCall } from "../../ports/executor.ts";

/** `costMicro` is absent where there is nothing to say: 0 where there was no effect, else unknown. */
export type FailureFacts = Pick<Failed, "message" | "retryable" | "effect"> &
  Partial<Pick<Failed, "costMicro" | "usage" | "details" | "outspent" | "isAnswered" | "workerDied">>;

/** A failed outcome with a code that has a row in the error table. */
export function toFailed(code: ErrorCode, facts: FailureFacts): Failed {
  const costMicro = facts.effect === "none" ? 0 : null;
  return { status: "failed", code, costMicro, ...facts };
}

/** A paid call has failed. */
export function settleFailed({ costMicro, effect }: Failed, settle: SettleCall): void {
  settle(costMicro, costMicro === 0 && effect === "none" ? "refused" : undefined);
}

/** The host stopped the attempt, and decides about another one. */
export function toInterrupted(effect: Effect): Failed {
  return toFailed("INTERRUPTED", {
    message: "The attempt was stopped before the agent had answered.",
    retryable: true,
    effect,
  });
}

/** A failure before anything was asked or paid, which another try would not help. */
export function toRefused(code: ErrorCode, message: string, details?: Json): Failed {
  return toFailed(code, { message, retryable: false, effect: "none", ...(details === undefined ? {} : { details }) });
}

export function toSchemaInvalid(reason: string): Failed {
  return toRefused("SCHEMA_INVALID", `The output schema cannot be used: ${reason}.`);
}
