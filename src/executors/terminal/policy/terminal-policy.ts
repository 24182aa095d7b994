import { realpathSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { orElse } from "../../../core/or-else.ts";
import { goesOn, NOTHING_TYPED, readTypedLines, type TypedLine, type TypedLines } from "../input/typed-line.ts";
import { findHarm, findHarmWithin, type Harm } from "./find-harm.ts";

export interface PolicyOptions {
  readonly level: SecurityLevel;
  readonly maxCallsPerMinute: number;
  readonly maxSessions: number;
  /** Folders in and below which terminals may be opened. */
  readonly roots: readonly string[];
  readonly now: () => number;
}

export interface Opening {
  /** The program and its arguments, as in the request. */
  readonly shell: string;
  readonly program: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly openSessions: number;
  readonly isSandboxed: boolean;
}

export interface Typing {
  /** With escape sequences already translated. */
  readonly input: string;
  /** It is a text that a shell gets whole, not keys. */
  readonly isText?: boolean;
  /** The length in the request, which the limit is about. */
  readonly length: number;
  /** The part of the line that was typed before. */
  readonly begun: TypedLine;
  /** The line as the program shows it, for where that cannot be told from what was typed. */
  readonly shown: string;
  /** A shell reads it, or a program that may bring it to one. */
  isForShell(): boolean;
  readonly isSandboxed: boolean;
}

const MAX_INPUT_LENGTH = 10_000;

/** The rules for terminals: a help against accidents, not a wall, which is the sandbox. Every method throws `TERMINAL_REFUSED` with the broken rule. */
export class TerminalPolicy {
  readonly #options: PolicyOptions;
  readonly #rate: CallRate;

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#rate = new CallRate(options.maxCallsPerMinute, options.now);
  }

  checkCall(): void {
    const { level, maxCallsPerMinute } = this.#options;
    const waitMs = level === "off" ? undefined : this.#rate.tryCall();
    if (waitMs === undefined) return;
    const reason = `There were ${maxCallsPerMinute} calls in the last minute.`;
    refuse("calls-per-minute", reason, `Try again in ${Math.ceil(waitMs / 1000)} s, or raise the limit.`);
  }

  checkOpening({ shell, program, folder, environment, openSessions, isSandboxed }: Opening): void {
    const { level, roots, maxSessions } = this.#options;
    if (openSessions >= maxSessions) {
      const reason = `${openSessions} terminals are open, and ${maxSessions} may be.`;
      refuse("sessions", reason, "Close one with exit_terminal, or raise the limit.");
    }
    if (isSandboxed) return;
    refuseHarmfulText(level, shell);
    refuseForbiddenVariable(level, environment);
    if (!isAtLeast(level, "medium")) return;
    refuseForbiddenShell(program);
    refuseForbiddenFolder(folder, roots);
  }

  /** Variables that are set in a program that is not confined. */
  checkVariables(environment: Readonly<Record<string, string>>): void {
    refuseForbiddenVariable(this.#options.level, environment);
  }

  checkTyping({ input, isText, length, begun, shown, isForShell, isSandboxed }: Typing): void {
    if (length > MAX_INPUT_LENGTH) {
      const reason = `The input has ${length} characters, and ${MAX_INPUT_LENGTH} are allowed.`;
      refuse("input-length", reason, "Send it in parts, or put it into a file.");
    }
    if (isSandboxed) return;
    const { level } = this.#options;
    const lines = isText === true ? toLines(input) : readTypedLines(begun, input);
    const typed = [...lines.submitted, lines.current, ...lines.deleted];
    const isRead = isAtLeast(level, "medium");
    for (const line of typed) if (!isRead || !line.isCertain) refuseBlockedWord(level, line);
    // After a key that completes or recalls, the program's line is the better witness.
    const added = readTypedLines(NOTHING_TYPED, input);
    const seen = (lines.submitted[0] ?? lines.current).isCertain
      ? ""
      : shown + (added.submitted[0] ?? added.current).text;
    if (isRead) refuseHarm(level, lines, seen, isForShell);
    else refuseBlockedWord(level, { text: seen, isCertain: true });
  }
}

function toLines(text: string): TypedLines {
  return { submitted: [{ text, isCertain: true }], current: NOTHING_TYPED, deleted: [] };
}

/** Refuses what a shell would do with lines, and what it would not let go on with the last of them. */
function refuseHarm(level: SecurityLevel, lines: TypedLines, seen: string, isForShell: () => boolean): void {
  const { submitted, current, deleted } = lines;
  for (const { text } of deleted) refuseFound(findHarm(toWholeWords(text)).harm);
  const sent = submitted.filter(({ text }) => !goesOn(text)).map(({ text }) => text);
  if (seen !== "" || [...submitted, current].some(({ isCertain }) => !isCertain)) {
    const shown = submitted.length > 0 ? seen : toWholeWords(seen);
    for (const text of [...sent, toWholeWords(current.text), shown]) refuseFound(findHarmWithin(text));
  }
  const { harm, isUnfinished } = findHarm([...sent, toWholeWords(current.text)].join("\n"));
  refuseFound(harm);
  if (submitted.length === 0 || !isUnfinished || !isAtLeast(level, "high") || !isForShell()) return;
  const reason = "It cannot be read to its end: a quote, a parenthesis or a here-document is open.";
  refuse("unreadable", reason, "Send the whole command at once, or lower the security level to medium.");
}

/** The last word of a line that has not been sent may be only begun. */
function toWholeWords(text: string): string {
  return text.replace(/\S+$/, "");
}

function refuseFound(harm: Harm | undefined): void {
  if (harm !== undefined) refuse(harm.rule, harm.reason, "Do it without, or lower the security level to low.");
}

/** Programs that a terminal may be opened with from level medium on. Once one runs, it may start others. */
const ALLOWED_SHELLS: readonly string[] = [
  ...["bash", "sh", "zsh", "fish", "dash", "ksh", "tcsh", "csh"],
  ...["python", "python3", "ipython", "pdb", "pdb3", "node", "irb", "gdb", "lldb"],
  ...["vim", "vi", "nvim", "nano", "less", "psql", "mysql", "sqlite3", "redis-cli"],
];

/** A path to a shell elsewhere may be any program that goes by its name. */
const SYSTEM_FOLDERS: readonly string[] = ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"];

function refuseForbiddenShell(program: string): void {
  const isOfSystem = !program.includes("/") || SYSTEM_FOLDERS.includes(dirname(program));
  if (isOfSystem && ALLOWED_SHELLS.includes(basename(program))) return;
  const remedy = `Use one of ${ALLOWED_SHELLS.join(", ")}, or lower the security level to low.`;
  refuse("shells", `A terminal may not be opened with \`${program}\`.`, remedy);
}

const MINUTE_MS = 60_000;

/** Counts calls of the last minute. */
class CallRate {
  readonly #limit: number;
  readonly #now: () => number;
  #times: number[] = [];

  /** `now` in milliseconds that never go back. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a call where there is room for it; else says in how many milliseconds there will be. */
  tryCall(): number | undefined {
    const now = this.#now();
    this.#times = this.#times.filter((time) => time > now - MINUTE_MS);
    const [oldest = now] = this.#times;
    if (this.#times.length >= this.#limit) return oldest + MINUTE_MS - now;
    this.#times.push(now);
    return undefined;
  }
}

/** Variables that decide which programs run, and as which user. */
const PROTECTED = /^(?:PATH|HOME|USER|SHELL|BASH_ENV|ENV|LD_.*|DYLD_.*)$/;

function refuseForbiddenVariable(level: SecurityLevel, environment: Readonly<Record<string, string>>): void {
  const name = Object.keys(environment).find((candidate) => PROTECTED.test(candidate));
  if (name !== undefined && isAtLeast(level, "low")) {
    const remedy = "Leave it out, or lower the security level to off.";
    refuse("protected-environment", `\`${name}\` may not be set.`, remedy);
  }
  // Shells run what some variables hold, such as PROMPT_COMMAND.
  for (const text of Object.values(environment)) refuseHarmfulText(level, text);
}

/** Lets terminals open where a folder is, with all links followed, one of the roots or inside of one. */
function refuseForbiddenFolder(folder: string, roots: readonly string[]): void {
  const real = realPathOf(folder);
  // A missing folder cannot be opened either.
  if (real === undefined || roots.some((root) => isInside(real, realPathOf(root)))) return;
  const reason =
    "A terminal may be opened only in the home folder, the folder for temporary files, or the current one.";
  refuse("working-directory", reason, "Choose a folder below one of these, or lower the security level to low.");
}

function isInside(folder: string, root: string | undefined): boolean {
  if (root === undefined) return false;
  return folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
}

function realPathOf(path: string): string | undefined {
  return orElse(() => realpathSync(path), undefined);
}

const BLOCKED: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /\bsudo\b/, reason: "`sudo` runs commands as another user." },
  { pattern: /\bsu\s+-/, reason: "`su -` becomes another user." },
  { pattern: /\bpasswd\b/, reason: "`passwd` changes passwords." },
];

function refuseHarmfulText(level: SecurityLevel, text: string): void {
  if (isAtLeast(level, "medium")) refuseFound(findHarm(text).harm);
  else refuseBlockedWord(level, { text, isCertain: true });
}

/** Refuses a line that has one of some words as it was typed, or as a shell reads it. */
function refuseBlockedWord(level: SecurityLevel, { text, isCertain }: TypedLine): void {
  if (!isAtLeast(level, "low")) return;
  // Quotes, backslashes and empty parameters in the middle of a word mean nothing to a shell.
  const readings = [text, text.replace(/\$[@*1-9]/g, "").replace(/["'\\]/g, "")];
  const found = BLOCKED.find(({ pattern }) => {
    // The same pattern without word ends: if keys moved the cursor, the characters beside a word are unknown.
    const held = isCertain ? pattern : new RegExp(pattern.source.replaceAll("\\b", ""));
    return readings.some((reading) => held.test(reading));
  });
  if (found !== undefined) refuse("other-user", found.reason, "Do it without, or lower the security level to off.");
}

/** Throws `TERMINAL_REFUSED`. The reason is told without the input itself, which may hold secrets. */
function refuse(rule: string, reason: string, remedy: string): never {
  throw new PawlError("TERMINAL_REFUSED", {
    message: `Security violation: Tool call rejected by the rule "${rule}": ${reason} ${remedy}`,
    remedy,
    details: { rule },
  });
}

export type SecurityLevel = "off" | "low" | "medium" | "high";

const ORDER: readonly SecurityLevel[] = ["off", "low", "medium", "high"];

/** Whether rules that begin at one level hold at another. */
function isAtLeast(level: SecurityLevel, wanted: SecurityLevel): boolean {
  return ORDER.indexOf(level) >= ORDER.indexOf(wanted);
}
