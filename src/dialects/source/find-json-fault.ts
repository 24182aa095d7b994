import { parseExact } from "../../core/exact-json.ts";
import { toExcerpt } from "./printable.ts";
import type { Range } from "./source-text.ts";

interface JsonFault extends Range {
  readonly message: string;
  readonly remedy: string;
}

/**
 * The place where a text stops being JSON for programs that read nothing else: commas at the end, comments and single quotes are
 * not. The platform's parser says where only now and then. Undefined: it is JSON, or nested too deeply to tell.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  try {
    parseExact(text.replace(/^\ufeff/, ""));
    return undefined;
  } catch {
    return new Scanner(text).findFault();
  }
}

const SPACE = /[\t\n\r ]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/uy;
const LITERAL = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const WORD = /[\w.$+-]+|./suy;
const MAX_DEPTH = 200;

class Scanner {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  findFault(): JsonFault | undefined {
    const fault = this.#value(0);
    if (fault !== undefined) return fault === "too deep" ? undefined : fault;
    this.#skip();
    return this.#at === this.#text.length ? undefined : this.#unexpected("the end of the file");
  }

  #value(depth: number): JsonFault | "too deep" | undefined {
    if (depth > MAX_DEPTH) return "too deep";
    this.#skip();
    if (this.#take("{")) return this.#list("}", depth);
    if (this.#take("[")) return this.#list("]", depth);
    return this.#match(STRING) || this.#match(LITERAL) ? undefined : this.#unexpected("a value");
  }

  /** The entries of a map, or the items of a list, up to its end. */
  #list(end: "}" | "]", depth: number): JsonFault | "too deep" | undefined {
    this.#skip();
    if (this.#take(end)) return undefined;
    for (;;) {
      const fault = (end === "}" ? this.#key() : undefined) ?? this.#value(depth + 1);
      if (fault !== undefined) return fault;
      this.#skip();
      if (this.#take(end)) return undefined;
      const comma = this.#at;
      if (!this.#take(",")) return this.#unexpected(`a comma or \`${end}\``);
      this.#skip();
      if (this.#text[this.#at] !== end) continue;
      const message = `JSON has no comma before \`${end}\`.`;
      return { start: comma, end: comma + 1, message, remedy: "Remove the comma." };
    }
  }

  #key(): JsonFault | undefined {
    this.#skip();
    if (!this.#match(STRING)) return this.#unexpected("a key in double quotes");
    this.#skip();
    return this.#take(":") ? undefined : this.#unexpected("a colon");
  }

  #skip(): void {
    this.#match(SPACE);
  }

  #take(sign: string): boolean {
    const isThere = this.#text[this.#at] === sign;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const isThere = pattern.test(this.#text);
    if (isThere) this.#at = pattern.lastIndex;
    return isThere;
  }

  #unexpected(expected: string): JsonFault {
    const start = this.#at;
    WORD.lastIndex = start;
    const [found] = WORD.exec(this.#text) ?? [];
    if (found === undefined) {
      const range = { start: Math.max(0, start - 1), end: start };
      return {
        ...range,
        message: `The file ends where JSON needs ${expected}.`,
        remedy: "Add what is missing at its end.",
      };
    }
    const range = { start, end: start + found.length };
    if (found === "/") return { ...range, message: "JSON has no comments.", remedy: "Remove the comment." };
    if (found === "'")
      return { ...range, message: "JSON has no single quotes.", remedy: "Write `\"` in place of `'`." };
    if (found === '"' && !expected.startsWith("a co")) {
      const message = "This text does not end on its line, or holds what JSON writes with a backslash.";
      return {
        ...range,
        message,
        remedy: 'Close it with `"`; write line breaks as `\\n`, tabs as `\\t`, a backslash twice.',
      };
    }
    return {
      ...range,
      message: `\`${toExcerpt(found)}\` stands where JSON needs ${expected}.`,
      remedy: remedyFor(expected),
    };
  }
}

function remedyFor(expected: string): string {
  if (expected === "the end of the file") return "Remove what comes after the whole, or check the brackets before it.";
  if (expected === "a value")
    return "Write a text in double quotes, a number, `true`, `false`, `null`, a list or a map.";
  return `Put ${expected} here.`;
}
