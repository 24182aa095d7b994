/** Shells in which a command has an exit code. `sh`: dash, ash, ksh and their kin. */
export type ShellKind = "bash" | "zsh" | "fish" | "sh";

const KINDS: Readonly<Record<string, ShellKind>> = {
  ...{ bash: "bash", zsh: "zsh", fish: "fish" },
  ...{ sh: "sh", dash: "sh", ash: "sh", busybox: "sh", ksh: "sh", mksh: "sh" },
};

/** Undefined: the program is no shell that is known. */
export function toShellKind(program: string): ShellKind | undefined {
  const name = program.replace(/^-|[\d.]+$/g, "");
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

export interface TypedCommand {
  readonly number: number;
  readonly text: string;
  /** Where it is to be changed to first. */
  readonly cwd: string | undefined;
  /** Variables that the shell exports from then on. */
  readonly env: Readonly<Record<string, string>>;
  /** The status that it finds, where that is to be set again. */
  readonly status?: number;
}

/**
 * The line that teaches a shell to print the marks, which programs that do not know the nonce cannot forge:
 * - `__pawl_b NUMBER TEXT SETUP` keeps the decoded texts, and prints where the output begins;
 * - `__pawl_z` prints where it ends, with the status. It is also run before each prompt: a command that Ctrl-C or an error has broken
 *   off never comes to its own;
 * - `__pawl_m PIECE` adds to a text that is too long for one line.
 *
 * Each gives back the status that it has found. Marks go to the terminal, wherever the output goes. The escape is spelled in digits, so
 * that the echo of the line is no mark.
 */
export function toBootstrapLine(kind: ShellKind, nonce: string): string {
  const known = kind === "fish" ? `set -g __pawl_k ${nonce}` : `__pawl_k=${nonce}`;
  return ` ${known}; ${BOOTSTRAPS[kind].replaceAll("NONCE", nonce).replace(/\n\s*/g, " ")}\r`;
}

const POSIX_FUNCTIONS = (print: string, decode: (to: string, from: string) => string) =>
  `
__pawl_n=; __pawl_l=;
__pawl_m() { __pawl_s=$?; __pawl_l=$__pawl_l$1; return "$__pawl_s"; };
__pawl_b() { __pawl_s=$?; __pawl_n=$1; __pawl_l=; ${decode("__pawl_c", "$2")}; ${decode("__pawl_e", "$3")};
${print} '\\033]633;C;NONCE;%s\\007' "$1" >/dev/tty; return "$__pawl_s"; };
__pawl_z() { __pawl_s=$?; ${print} '\\033]633;D;NONCE;%s;%s;%s\\007' "$__pawl_n" "$__pawl_s" "$PWD" >/dev/tty;
__pawl_n=; return "$__pawl_s"; };`.trim();

const WITH_BUILTIN = POSIX_FUNCTIONS(
  "\\builtin printf",
  (to, from) => `${to}=; [ -z "${from}" ] || \\builtin printf -v ${to} %b "${from}"`,
);
/** A substitution takes newlines from the end of a text, so that something else stands there. */
const WITH_SUBSTITUTION = POSIX_FUNCTIONS(
  "\\command printf",
  (to, from) => `${to}=$(\\command printf %b. "${from}"); ${to}=\${${to}%.}`,
);

// What may fail, where a user has made a variable readonly, comes last.
const BOOTSTRAPS: Readonly<Record<ShellKind, string>> = {
  bash: `${WITH_BUILTIN} PROMPT_COMMAND="__pawl_z\${PROMPT_COMMAND:+;$PROMPT_COMMAND}"`,
  zsh: `${WITH_BUILTIN} typeset -ga precmd_functions; precmd_functions=(__pawl_z "\${precmd_functions[@]}")`,
  sh: `${WITH_SUBSTITUTION}
PS1="$(\\command printf '\\033]633;D;NONCE;')\\$__pawl_n;\\$?;\\$PWD$(\\command printf '\\007')$PS1"`,
  fish: `set -g __pawl_n; set -g __pawl_l;
function __pawl_m; set -l s $status; set -g __pawl_l "$__pawl_l$argv[1]"; return $s; end;
function __pawl_b; set -l s $status; set -g __pawl_n $argv[1]; set -g __pawl_l;
set -g __pawl_c (builtin printf %b "$argv[2]" | string collect); set -g __pawl_e (builtin printf %b "$argv[3]" | string collect);
builtin printf '\\033]633;C;NONCE;%s\\007' "$argv[1]" >/dev/tty; return $s; end;
function __pawl_z --on-event fish_prompt; set -l s $status;
builtin printf '\\033]633;D;NONCE;%s;%s;%s\\007' "$__pawl_n" $s "$PWD" >/dev/tty; set -g __pawl_n; return $s; end`,
};

/** The line that asks who reads it. Programs that are no shells answer nothing that is a mark. */
export function toQuestionLine(nonce: string): string {
  const names = ["BASH_VERSION", "ZSH_VERSION", "FISH_VERSION", "__pawl_k"];
  const given = names.map((name) => `"$${name}"`).join(" ");
  return ` printf '\\033]633;I;${nonce};%s;%s;%s;%s\\007' ${given}\r`;
}

/** Terminals in canonical mode take 4,095 bytes of a line. */
const MAX_LINE = 3_000;
const MAX_SETUP = 800;

/** The lines that run a command. Undefined: folder and variables are too long. */
export function toCommandLines(kind: ShellKind, command: TypedCommand): string | undefined {
  const setup = encode(toSetup(kind, command));
  if (setup.length > MAX_SETUP) return undefined;
  const text = encode(command.text);
  const isLong = text.length + setup.length > MAX_LINE;
  const pieces = isLong ? cut(text).map((piece) => ` __pawl_m '${piece}'\r`) : [];
  const given = `__pawl_b ${command.number} ${isLong ? '"$__pawl_l"' : `'${text}'`} '${setup}'`;
  const { status = 0 } = command;
  const restore = status === 0 ? "" : kind === "fish" ? `sh -c 'exit ${status}'; ` : `(exit ${status}); `;
  return [...pieces, ` ${restore}${toLine(kind, given, setup !== "")}\r`].join("");
}

function toLine(kind: ShellKind, begin: string, hasSetup: boolean): string {
  const run = kind === "fish" ? "eval" : kind === "sh" ? "\\eval" : "\\builtin eval";
  const setUp = hasSetup ? `${run} "$__pawl_e" ${kind === "fish" ? "; and" : "&&"} ` : "";
  // `set -x` shows our lines on stderr. No brace comes first: after an open quote bash takes one for a word.
  const end = kind === "fish" ? "__pawl_z" : "{ __pawl_z; } 2>/dev/null";
  return `${begin} 2>/dev/null; ${setUp}${run} "$__pawl_c"; ${end}`;
}

function toSetup(kind: ShellKind, { cwd, env }: TypedCommand): string {
  const escaped = (value: string) =>
    kind === "fish" ? value.replace(/[\\']/g, "\\$&") : value.replaceAll("'", "'\\''");
  const assignments = Object.entries(env).map(([name, value]) =>
    kind === "fish" ? `set -gx ${name} '${escaped(value)}'` : `export ${name}='${escaped(value)}'`,
  );
  const folder = cwd === undefined ? [] : [`cd ${kind === "fish" ? "" : "-- "}'${escaped(cwd)}'`];
  return [...assignments, ...folder].join(kind === "fish" ? "; and " : " && ");
}

/** For `printf %b` in single quotes: plain characters as they are, every other byte in octal digits. */
function encode(text: string): string {
  return text.replace(/[^ -~]+|['\\]/gu, (special) =>
    [...Buffer.from(special)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join(""),
  );
}

function cut(encoded: string): readonly string[] {
  return encoded.match(new RegExp(`(?:\\\\0\\d{3}|[^\\\\]){1,${MAX_LINE / 5}}`, "g")) ?? [];
}
