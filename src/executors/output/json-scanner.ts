import { MAX_JSON_DEPTH } from "../../core/parse-json.ts";

/** Follows brackets and strings of JSON text that arrives in pieces, in one pass, and finds where the outermost bracket closes. */
export interface JsonScanner {
  /** Reads on from `from`, which at the start must be a bracket. `end` is the index after the closing one. */
  read(
    text: string,
    from?: number,
  ): { readonly state: "open" | "broken" } | { readonly state: "closed"; readonly end: number };
  isInString(): boolean;
  /** An object could stand here: after `:`, `[`, or `,` in a list. */
  expectsValue(): boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LAST_BLANK = 0x20;

export function createJsonScanner(): JsonScanner {
  const closers: number[] = [];
  let inString = false;
  let escaped = false;
  let lastCode = 0;

  return {
    read(text, from = 0) {
      for (let index = from; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        if (inString) {
          if (escaped) escaped = false;
          else if (code === BACKSLASH) escaped = true;
          else if (code === QUOTE) inString = false;
          continue;
        }
        if (code <= LAST_BLANK) continue;
        lastCode = code;
        if (code === QUOTE) inString = true;
        else if (code === OPEN_OBJECT) closers.push(CLOSE_OBJECT);
        else if (code === OPEN_LIST) closers.push(CLOSE_LIST);
        else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
          if (closers.pop() !== code) return { state: "broken" };
          if (closers.length === 0) return { state: "closed", end: index + 1 };
        }
        if (closers.length > MAX_JSON_DEPTH) return { state: "broken" };
      }
      return { state: "open" };
    },
    isInString: () => inString,
    expectsValue: () =>
      !inString &&
      (lastCode === COLON || lastCode === OPEN_LIST || (lastCode === COMMA && closers.at(-1) === CLOSE_LIST)),
  };
}
