/** A line as far as it has been typed. */
export interface TypedLine {
  readonly text: string;
  /** No key was pressed that moves, completes or recalls: the line is what its program shows, if that shows it. */
  readonly isCertain: boolean;
}

export interface TypedLines {
  /** Ended with Enter. */
  readonly submitted: readonly TypedLine[];
  /** Not ended yet. */
  readonly current: TypedLine;
  /** Deleted with a key after which another one can bring it back. */
  readonly deleted: readonly TypedLine[];
}

export const NOTHING_TYPED: TypedLine = { text: "", isCertain: true };

const DELETE_CHARACTER: readonly string[] = ["\b", "\u007f"];
const DELETE_LINE = "\u0015";
const DELETE_WORD = "\u0017";
/** Ctrl-C, Ctrl-\ and Ctrl-Z: whatever was typed is given up. */
const GIVE_UP: readonly string[] = ["\u0003", "\u001a", "\u001c"];
// A key with a name, as terminals send it: CSI with parameters, SS3, or Escape and a character.
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
const KEY_SEQUENCE = /\u001b(?:\[M[\s\S]{3}|\[[0-?]*[ -/]*[@-~]|O[ -~]|[^[O]|$)/y;

/** The lines that an input types after `begun`, with the usual editing keys. A backslash at the end of a line continues it. */
export function readTypedLines(begun: TypedLine, input: string): TypedLines {
  const submitted: TypedLine[] = [];
  const deleted: TypedLine[] = [];
  let line = begun;
  for (let at = 0; at < input.length; ) {
    const key = readKey(input, at);
    at += key.length;
    if (key === "\r" || key === "\n") {
      submitted.push(line);
      line = goesOn(line.text) ? { ...line, text: line.text.slice(0, -1) } : NOTHING_TYPED;
      continue;
    }
    if (key === DELETE_LINE || key === DELETE_WORD) deleted.push(line);
    line = edit(line, key);
  }
  return { submitted, current: line, deleted };
}

function readKey(input: string, at: number): string {
  KEY_SEQUENCE.lastIndex = at;
  return KEY_SEQUENCE.exec(input)?.[0] ?? String.fromCodePoint(input.codePointAt(at) ?? 0);
}

function edit(line: TypedLine, key: string): TypedLine {
  if (GIVE_UP.includes(key)) return NOTHING_TYPED;
  if (key === DELETE_LINE) return { ...line, text: "" };
  if (key === DELETE_WORD) return { ...line, text: line.text.replace(/\S*\s*$/u, "") };
  if (DELETE_CHARACTER.includes(key)) return { ...line, text: [...line.text].slice(0, -1).join("") };
  const isControl = key < " " || key === "\u007f";
  return isControl ? { ...line, isCertain: false } : { ...line, text: line.text + key };
}

/** It ends with a backslash: the next line continues it. */
export function goesOn(text: string): boolean {
  const backslashes = /\\*$/.exec(text)?.[0].length ?? 0;
  return backslashes % 2 === 1;
}
