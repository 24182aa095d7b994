import { findBlockedCommand } from "./blocked-commands.ts";
import type { Refusal } from "./refuse.ts";
import { isAtLeast, type SecurityLevel } from "./security-level.ts";

/** What decides which programs run and as whom. */
const PROTECTED = /^(?:PATH|HOME|USER|SHELL|BASH_ENV|ENV|LD_.*|DYLD_.*)$/;

export function findForbiddenVariable(
  level: SecurityLevel,
  environment: Readonly<Record<string, string>>,
): Refusal | undefined {
  const name = Object.keys(environment).find((candidate) => PROTECTED.test(candidate));
  if (name !== undefined && isAtLeast(level, "low")) return toRefusal(name);
  // Shells run what some variables hold, such as PROMPT_COMMAND.
  for (const value of Object.values(environment)) {
    const refusal = findBlockedCommand(level, { text: value, isCertain: true });
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function toRefusal(name: string): Refusal {
  return {
    rule: "protected-environment",
    reason: `\`${name}\` may not be set.`,
    remedy: "Leave it out, or lower the security level to off.",
  };
}
