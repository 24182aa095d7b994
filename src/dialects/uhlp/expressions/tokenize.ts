import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, toFault } from "./expression-fault.ts";
import { readString } from "./read-string.ts";
import { SIGNS, type Token } from "./token.ts";
import { findWrongSign, refuseSign } from "./wrong-signs.ts";

type Tokenized =
  | { readonly tokens: readonly Token[]; readonly fault?: never }
  | { readonly tokens?: never; readonly fault: ExpressionFault };

/** Cuts an expression into its smallest pieces, up to the first that means nothing. */
export function tokenize(text: string): Tokenized {
  const tokens: Token[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const next = readToken(text, at, tokens.at(-1));
    if ("code" in next) return { fault: next };
    tokens.push(next);
    at = next.end;
  }
  return { tokens };
}

const SPACE = /\s*/y;
const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$-]*/uy;
/** After a dot a name may begin with a digit, as ids of steps and keys of JSON do. */
const FIELD = /[\p{ID_Continue}$][\p{ID_Continue}$-]*/uy;
const NUMBER = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\p{ID_Continue}$])/uy;
/** What begins as a number and is none: `5m`, `007`. */
const NUMBER_LIKE = /[0-9][\p{ID_Continue}$.-]*/uy;

const WORD_LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function skipSpace(text: string, at: number): number {
  return at + (match(SPACE, text, at) ?? "").length;
}

function readToken(text: string, at: number, before: Token | undefined): Token | ExpressionFault {
  const isField = before?.kind === "sign" && before.text === ".";
  const name = match(isField ? FIELD : NAME, text, at);
  if (name !== undefined) return toNameToken(name, at, isField);
  const char = text[at];
  if (char === "'" || char === '"') return readString(text, at);
  return readNumber(text, at, before) ?? readSign(text, at);
}

function toNameToken(text: string, start: number, isField: boolean): Token {
  const span = { start, end: start + text.length };
  const literal = isField ? undefined : WORD_LITERALS.get(text);
  return literal === undefined ? { kind: "name", text, ...span } : { kind: "literal", value: literal, ...span };
}

function readNumber(text: string, at: number, before: Token | undefined): Token | ExpressionFault | undefined {
  const sign = text[at] === "-" && !endsValue(before) ? "-" : "";
  const number = match(NUMBER, text, at + sign.length);
  if (number !== undefined) return toNumberToken(sign + number, at);
  const wrong = match(NUMBER_LIKE, text, at + sign.length);
  return wrong === undefined ? undefined : refuseNumber(sign + wrong, at);
}

function toNumberToken(text: string, start: number): Token | ExpressionFault {
  const value = Number(text);
  const span = { start, end: start + text.length };
  if (!Number.isFinite(value)) return toFault(span, { message: `The number \`${toExcerpt(text)}\` is too large.` });
  // `+ 0`: no negative zero, which JSON does not keep.
  return { kind: "literal", value: value + 0, ...span };
}

function refuseNumber(text: string, start: number): ExpressionFault {
  const written = toExcerpt(text);
  const remedy = `Write text in single quotes: \`'${written}'\`.`;
  return toFault({ start, end: start + text.length }, { message: `\`${written}\` is no number.`, remedy });
}

function readSign(text: string, at: number): Token | ExpressionFault {
  const wrong = findWrongSign(text, at);
  if (wrong !== undefined) return wrong;
  const sign = SIGNS.find((candidate) => text.startsWith(candidate, at));
  return sign === undefined ? refuseSign(text, at) : { kind: "sign", text: sign, start: at, end: at + sign.length };
}

/** After a value `-` is no longer the sign of a number. */
function endsValue(token: Token | undefined): boolean {
  if (token?.kind === "sign") return token.text === ")" || token.text === "]";
  return token !== undefined;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
