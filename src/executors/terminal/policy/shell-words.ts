/** A command as a shell would run it: words without quotes, in which what only running would tell stands as a mark. */
export interface ReadCommand {
  readonly words: readonly string[];
  /** Where its output goes. */
  readonly writes: readonly string[];
  /** What it reads: a text that stands in the command. */
  readonly input: string | undefined;
  /** What is left of its pipe. `unknown`: a group of commands. */
  readonly from: ReadCommand | "unknown" | undefined;
  readonly isInBackground: boolean;
  readonly isPiped: boolean;
  /** Functions in whose definition it stands. */
  readonly within: readonly string[];
  /** A loop without an end starts it in the background, and waits for nothing. */
  readonly isEndless: boolean;
}

// Parts of words that only running would tell. No text has these characters: they are taken out of it.
export const UNKNOWN = "\ue000";
/** What an ordinary command puts out. */
const OUTPUT = "\ue001";
/** What was fetched or decoded. */
export const DOUBTFUL = "\ue002";
/** The home folder. */
export const HOME = "\ue003";
const MARKS = /[\ue000-\ue01f]/g;
const SPECIAL = "{},~";
const PROTECTED = 0xe010;

/** A text from outside. */
export function withoutMarks(text: string): string {
  return text.replace(MARKS, "?");
}

/** Characters that mean themselves, as those in quotes do. */
export function protect(text: string): string {
  return text.replace(/[{},~]/g, (special) => String.fromCharCode(PROTECTED + SPECIAL.indexOf(special)));
}

export function plain(text: string): string {
  return text.replace(/[\ue010-\ue013]/g, (mark) => SPECIAL[mark.charCodeAt(0) - PROTECTED] ?? "");
}

const MAX_WORDS = 500;
const BRACES = /^([\s\S]*?)\{([^{}]*,[^{}]*)\}([\s\S]*)$/;

/** `a{b,c}` is two words. */
export function expandBraces(word: string): readonly string[] {
  let words: readonly string[] = [word];
  for (;;) {
    const next = words.flatMap((each) => {
      const [, before = "", list, after = ""] = BRACES.exec(each) ?? [];
      return list === undefined ? [each] : list.split(",").map((part) => before + part + after);
    });
    if (next.length > MAX_WORDS) return [DOUBTFUL];
    if (next.length === words.length) return next;
    words = next;
  }
}

const SPELLED: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", e: "\u001b", E: "\u001b", a: "\u0007" };
const ESCAPE = /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|0?([0-7]{1,3})|([\s\S]))/gi;

/** Escapes of `$'...'`, `printf` and `echo -e`. */
export function spell(text: string): string {
  return text.replace(ESCAPE, (_, byte?: string, unit?: string, point?: string, octal?: string, simple = "") => {
    const hexadecimal = byte ?? unit ?? point;
    if (hexadecimal === undefined && octal === undefined) return SPELLED[simple] ?? simple;
    const code = hexadecimal === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hexadecimal, 16);
    return code <= 0x10ffff ? withoutMarks(String.fromCodePoint(code)) : "?";
  });
}

/** Programs whose output is what somebody else, or a code, says. */
const FETCHING = new Set("curl wget fetch aria2c nc ncat netcat socat ftp lynx http https".split(" "));
const DECODING = new Set(
  (
    "base64 base32 basenc xxd od openssl gpg rev tr sed awk gawk perl python python3 ruby node php cut uudecode gunzip zcat gzip " +
    "bunzip2 bzcat xz dd"
  ).split(" "),
);

export function nameOf({ words: [word = ""] }: Pick<ReadCommand, "words">): string {
  return word.replace(/^.*\//, "");
}

export function isFetching(command: ReadCommand): boolean {
  return command.words.some((word) => FETCHING.has(nameOf({ words: [word] })));
}

/** What takes the place of a substitution. */
export function outputOf(commands: readonly ReadCommand[]): string {
  const [only, ...others] = commands;
  const text = only === undefined || others.length > 0 ? undefined : textOf(only);
  if (text !== undefined) return protect(text.replace(/\n+$/, ""));
  const isDoubtful = commands.some((command) => isFetching(command) || DECODING.has(nameOf(command)));
  return isDoubtful ? DOUBTFUL : OUTPUT;
}

/** What a command puts out, where that stands in it. */
export function textOf(command: ReadCommand): string | undefined {
  const [, ...args] = command.words;
  switch (nameOf(command)) {
    case "echo": {
      const options = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
      const text = options === -1 ? "" : args.slice(options).join(" ");
      return `${options > 0 && args.slice(0, options).join().includes("e") ? spell(text) : text}\n`;
    }
    case "printf":
      return format(args[0] === "--" ? args.slice(1) : args);
    case "cat":
      return args.every((arg) => arg === "-") ? command.input : undefined;
    case "pwd":
      return ".";
    case "which":
      return args.at(-1);
    case "command":
      return args[0] === "-v" ? args[1] : undefined;
    default:
      return undefined;
  }
}

function format([pattern = "", ...args]: readonly string[]): string | undefined {
  if (pattern === "-v") return undefined;
  const rest = [...args];
  let text = "";
  do {
    text += spell(
      pattern.replace(/%[-+ #0-9.]*([a-zA-Z%])/g, (_, kind: string) => (kind === "%" ? "%" : (rest.shift() ?? ""))),
    );
  } while (rest.length > 0 && /%[-+ #0-9.]*[a-zA-Z]/.test(pattern) && text.length < 10_000);
  return text;
}
