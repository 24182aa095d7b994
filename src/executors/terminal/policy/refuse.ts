import { PawlError } from "../../../core/errors/pawl-error.ts";

export interface Refusal {
  /** The rule's name, as the documentation calls it. */
  readonly rule: string;
  /** The reason, without the input itself: it may hold secrets. */
  readonly reason: string;
  readonly remedy: string;
}

export function toRefusedError({ rule, reason, remedy }: Refusal): PawlError {
  return new PawlError("TERMINAL_REFUSED", {
    message: `Security violation: Tool call rejected by the rule "${rule}": ${reason} ${remedy}`,
    remedy,
    details: { rule },
  });
}
