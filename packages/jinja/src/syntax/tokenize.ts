import { TemplateError } from "../template-error.ts";
import { stripEnd, stripStart } from "../values/text.ts";
import type { Token, TokenKind } from "./tokens.ts";

const NAME = /[\p{L}_\p{Nl}][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*/uy;
// Not behind a dot: `pairs.0.1` is two numbers.
const FLOAT = /(?<!\.)\d+(?:_\d+)*(?:\.\d+(?:_\d+)*(?:[eE][+-]?\d+(?:_\d+)*)?|[eE][+-]?\d+(?:_\d+)*)/y;
const INTEGER = /0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0[xX](?:_?[\da-fA-F])+|[1-9](?:_?\d)*|0(?:_?0)*/y;
const STRING = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+*/%~()[\]{}<>=.:|,;]/y;
const SPACE = /\s+/y;
const RAW = /\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})/y;
const END_OF_RAW = /\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\})/g;
const TAG = /\{[{%#]/g;
const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Jinja reads every line end as `\n`, and leaves out the last one. */
export function normalizeNewlines(source: string): string {
  return source.replace(/\r\n?/g, "\n").replace(/\n$/, "");
}

/** Cuts a template into text and the tokens of its tags. Comments and raw blocks are resolved. */
export function tokenize(source: string): readonly Token[] {
  return new Tokenizer(source).run();
}

class Tokenizer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    while (this.#at < this.#source.length) this.#readText();
    this.#push("end", "", this.#at, 0);
    return this.#tokens;
  }

  #readText(): void {
    TAG.lastIndex = this.#at;
    const tag = TAG.exec(this.#source);
    const end = tag?.index ?? this.#source.length;
    const text = this.#source.slice(this.#at, end);
    const strips = tag !== null && this.#source[end + 2] === "-";
    this.#pushData(strips ? stripEnd(text) : text, this.#at);
    this.#at = end;
    if (tag === null) return;
    if (tag[0] === "{#") return this.#skipComment();
    const raw = this.#match(RAW);
    if (tag[0] === "{%" && raw !== undefined) return this.#readRaw(raw);
    const kind = tag[0] === "{{" ? "variable" : "block";
    const sign = /[-+]/.test(this.#source[end + 2] ?? "");
    this.#push(`${kind}Begin`, tag[0], end, 2);
    this.#at = end + (sign ? 3 : 2);
    this.#readTag(kind);
  }

  #skipComment(): void {
    const start = this.#at + (/[-+]/.test(this.#source[this.#at + 2] ?? "") ? 3 : 2);
    const end = this.#source.indexOf("#}", start);
    if (end < 0) throw this.#error("a comment is not closed; expected `#}`", this.#at, 2);
    const strips = this.#source[end - 1] === "-" && end > start;
    this.#at = end + 2;
    if (strips) this.#skipSpace();
  }

  #readRaw(begin: string): void {
    const start = this.#at;
    this.#at += begin.length;
    END_OF_RAW.lastIndex = this.#at;
    const end = END_OF_RAW.exec(this.#source);
    if (end === null) throw this.#error("a raw block is not closed; expected `{% endraw %}`", start, begin.length);
    const text = this.#source.slice(this.#at, end.index);
    this.#pushData(end[1] === "-" ? stripEnd(text) : text, this.#at);
    this.#at = end.index + end[0].length;
  }

  /** Reads tokens up to the end of the tag. A closing bracket that belongs to an open one does not end it. */
  #readTag(kind: "variable" | "block"): void {
    const close = kind === "variable" ? "}}" : "%}";
    const open: string[] = [];
    while (this.#at < this.#source.length) {
      this.#match(SPACE, true);
      const at = this.#at;
      if (open.length === 0 && this.#readEnd(kind, close)) return;
      if (this.#readLiteral()) continue;
      const operator = this.#match(OPERATOR, true);
      if (operator === undefined) {
        if (at >= this.#source.length) return;
        const char = String.fromCodePoint(this.#source.codePointAt(at) ?? 0);
        if (char === "'" || char === '"') throw this.#error("a text is not closed", at);
        throw this.#error(`unexpected character \`${char}\``, at);
      }
      this.#push("operator", operator, at, operator.length);
      const closing = CLOSING[operator];
      if (closing !== undefined) open.push(closing);
      else if (/[)\]}]/.test(operator))
        this.#close(open, operator, at, `end of ${kind === "variable" ? "variable block" : "block tag"}`);
    }
  }

  #readEnd(kind: "variable" | "block", close: string): boolean {
    const sign = this.#source[this.#at] ?? "";
    const signed = sign === "-" || (sign === "+" && kind === "block");
    const end = signed && this.#source.startsWith(close, this.#at + 1) ? this.#at + 1 : this.#at;
    if (!this.#source.startsWith(close, end)) return false;
    this.#push(`${kind}End`, close, this.#at, end + 2 - this.#at);
    const strips = end !== this.#at && sign === "-";
    this.#at = end + 2;
    if (strips) this.#skipSpace();
    return true;
  }

  #readLiteral(): boolean {
    const at = this.#at;
    const kinds = [
      ["float", FLOAT],
      ["integer", INTEGER],
      ["name", NAME],
    ] as const;
    for (const [kind, pattern] of kinds) {
      const text = this.#match(pattern, true);
      if (text === undefined) continue;
      this.#push(kind, text, at, text.length);
      return true;
    }
    const text = this.#match(STRING, true);
    if (text === undefined) return false;
    const literal = readStringLiteral(text.slice(1, -1));
    if (literal === undefined) throw this.#error("a text holds an escape that is none", at, text.length);
    this.#push("string", literal, at, text.length);
    return true;
  }

  #close(open: string[], operator: string, at: number, end: string): void {
    const expected = open.pop();
    if (expected === operator) return;
    const wanted = expected === undefined ? end : `\`${expected}\``;
    throw this.#error(`unexpected \`${operator}\`, expected ${wanted}`, at);
  }

  #skipSpace(): void {
    this.#at = this.#source.length - stripStart(this.#source.slice(this.#at)).length;
  }

  #match(pattern: RegExp, consume = false): string | undefined {
    pattern.lastIndex = this.#at;
    const text = pattern.exec(this.#source)?.[0];
    if (consume && text !== undefined) this.#at += text.length;
    return text;
  }

  #pushData(text: string, at: number): void {
    if (text !== "") this.#push("data", text, at, text.length);
  }

  #push(kind: TokenKind, text: string, at: number, length: number): void {
    this.#tokens.push({ kind, text, at, length });
  }

  #error(message: string, at: number, length = 1): TemplateError {
    return new TemplateError("syntax", message, { at, length });
  }
}

const SIMPLE: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads the escapes of Python's texts, but for characters by name. Undefined: one of them is none. */
function readStringLiteral(written: string): string | undefined {
  if (!written.includes("\\")) return written;
  let isWrong = false;
  const text = written.replace(/\\([0-7]{1,3}|x[\da-fA-F]{0,2}|u[\da-fA-F]{0,4}|U[\da-fA-F]{0,8}|.)/gs, (all, code) => {
    const first: string = code[0];
    const wanted = DIGITS[first];
    if (/[0-7]/.test(first)) return String.fromCharCode(Number.parseInt(code, 8));
    if (first === "N" || (wanted !== undefined && code.length <= wanted)) isWrong = true;
    if (wanted === undefined) return SIMPLE[first] ?? all;
    const point = Number.parseInt(code.slice(1), 16);
    if (!(point <= 0x10ffff)) isWrong = true;
    return isWrong ? "" : String.fromCodePoint(point);
  });
  return isWrong ? undefined : text;
}
