import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { TypedLine } from "../input/typed-line.ts";
import { isAtLeast, type SecurityLevel } from "./security-level.ts";

interface BlockedCommand {
  readonly rule: string;
  readonly from: SecurityLevel;
  readonly pattern: RegExp;
  readonly reason: string;
}

const PRIVILEGES = "other-user";
const CHAIN = "command-after-semicolon";
const SUBSTITUTION = "substitution";

const BLOCKED: readonly BlockedCommand[] = [
  { rule: PRIVILEGES, from: "low", pattern: /\bsudo\b/, reason: "`sudo` runs commands as another user." },
  { rule: PRIVILEGES, from: "low", pattern: /\bsu\s+-/, reason: "`su -` becomes another user." },
  { rule: PRIVILEGES, from: "low", pattern: /\bpasswd\b/, reason: "`passwd` changes passwords." },
  {
    rule: CHAIN,
    from: "medium",
    pattern: /;\s*(?:\S*\/)?(?:rm|cat|curl|wget)\b/,
    reason: "`rm`, `cat`, `curl` and `wget` may not follow a `;`.",
  },
  { rule: SUBSTITUTION, from: "high", pattern: /\$\(/, reason: "`$(...)` runs a command inside another." },
  { rule: SUBSTITUTION, from: "high", pattern: /`/, reason: "Backticks run a command inside another." },
  { rule: SUBSTITUTION, from: "high", pattern: /\$\{/, reason: "`$` and a brace may make up a command." },
  { rule: SUBSTITUTION, from: "high", pattern: /\$'/, reason: "`$'...'` may spell a command in numbers." },
];

const REMEDIES: Readonly<Record<string, string>> = {
  [PRIVILEGES]: "Do it without, or lower the security level to off.",
  [CHAIN]: "Send the commands one by one, or lower the security level to low.",
  [SUBSTITUTION]: "Send the commands one by one, or lower the security level to medium.",
};

/** Refuses a line that breaks a rule as it was typed, or as a shell reads it. */
export function refuseBlockedCommand(level: SecurityLevel, { text, isCertain }: TypedLine): void {
  const readings = [text, asShellsRead(text)];
  const found = BLOCKED.find(({ from, pattern }) => {
    const held = isCertain ? pattern : withoutWordEnds(pattern);
    return isAtLeast(level, from) && readings.some((reading) => held.test(reading));
  });
  if (found !== undefined) refuse(found.rule, found.reason, REMEDIES[found.rule] ?? "");
}

/** Quotes, backslashes and empty parameters in the middle of a word mean nothing to a shell. */
function asShellsRead(text: string): string {
  return text.replace(/\$[@*1-9]/g, "").replace(/["'\\]/g, "");
}

/** The same pattern without word ends: if keys moved the cursor, the characters beside a word are unknown. */
function withoutWordEnds(pattern: RegExp): RegExp {
  return new RegExp(pattern.source.replaceAll("\\b", ""));
}

/** Throws `TERMINAL_REFUSED`. The reason is told without the input itself, which may hold secrets. */
export function refuse(rule: string, reason: string, remedy: string): never {
  throw new PawlError("TERMINAL_REFUSED", {
    message: `Security violation: Tool call rejected by the rule "${rule}": ${reason} ${remedy}`,
    remedy,
    details: { rule },
  });
}
