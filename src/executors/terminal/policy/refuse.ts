import { PawlError } from "../../../core/errors/pawl-error.ts";

/** Throws `TERMINAL_REFUSED`. The reason is told without the input itself, which may hold secrets. */
export function refuse(rule: string, reason: string, remedy: string): never {
  throw new PawlError("TERMINAL_REFUSED", {
    message: `Security violation: Tool call rejected by the rule "${rule}": ${reason} ${remedy}`,
    remedy,
    details: { rule },
  });
}
