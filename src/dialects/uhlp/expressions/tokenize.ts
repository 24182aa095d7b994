import { toInteger } from "../../../core/exact-json.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, type Span, toFault } from "./expression-fault.ts";

/** The smallest pieces of an expression. */
export type Token = NameToken | LiteralToken | TemplateToken | SignToken;

/** A root, a field, a function or a local. A hyphen belongs to the name. */
export interface NameToken extends Span {
  readonly kind: "name";
  readonly text: string;
}

export interface LiteralToken extends Span {
  readonly kind: "literal";
  readonly value: string | number | bigint | boolean | null;
}

export interface SignToken extends Span {
  readonly kind: "sign";
  readonly text: Sign;
}

/** A text in backticks, with the tokens of what is put into it. */
interface TemplateToken extends Span {
  readonly kind: "template";
  readonly parts: readonly (string | readonly Token[])[];
}

export const COMPARISONS = ["==", "!=", "<=", ">=", "<", ">"] as const;

/** Longer ones first, so that `<=` is not read as `<`. */
const SIGNS = [
  ...["=>", "&&", "||", "??", ...COMPARISONS, "!", "(", ")", "[", "]", "{", "}", ",", ".", "?", ":"],
  ...["+", "-", "*", "/", "%"],
] as const;

type Sign = (typeof SIGNS)[number];

type Tokenized =
  | { readonly tokens: readonly Token[]; readonly end: number; readonly fault?: never }
  | { readonly tokens?: never; readonly fault: ExpressionFault };

/**
 * Cuts an expression into its smallest pieces, up to the first that means nothing. From `start` on, what stands in a template: up to the
 * brace that closes it.
 */
export function tokenize(text: string, start?: number): Tokenized {
  const tokens: Token[] = [];
  let braces = 0;
  for (let at = skipSpace(text, start ?? 0); at < text.length; at = skipSpace(text, at)) {
    if (start !== undefined && text[at] === "}" && braces === 0) return { tokens, end: at + 1 };
    const next = readToken(text, at, tokens.at(-1));
    if ("code" in next) return { fault: next };
    if (next.kind === "sign") braces += next.text === "{" ? 1 : next.text === "}" ? -1 : 0;
    tokens.push(next);
    at = next.end;
  }
  if (start === undefined) return { tokens, end: text.length };
  return { fault: toFault({ start: start - 2, end: text.length }, NEVER_CLOSED) };
}

const NEVER_CLOSED = { message: "`${` is never closed.", remedy: "Write `}`." };

const SPACE = /\s*/y;
const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$-]*/uy;
/** After a dot a name may begin with a digit, as ids of steps and keys of JSON do. */
const FIELD = /[\p{ID_Continue}$][\p{ID_Continue}$-]*/uy;
const NUMBER = /(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\p{ID_Continue}$])/uy;
/** A word that begins as a number and is none: `5m`, `007`. */
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
  if (char === "`") return readTemplate(text, at);
  return readNumber(text, at, before) ?? readSign(text, at, before);
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
  const value = /^-?\d+$/.test(text) ? toInteger(text) : Number(text);
  const span = { start, end: start + text.length };
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value)))
    return toFault(span, { message: `The number \`${toExcerpt(text)}\` is too large.` });
  // `|| 0`: no negative zero, which JSON does not keep.
  return { kind: "literal", value: value || 0, ...span };
}

function refuseNumber(text: string, start: number): ExpressionFault {
  const written = toExcerpt(text);
  const remedy = `Write text in single quotes: \`'${written}'\`.`;
  return toFault({ start, end: start + text.length }, { message: `\`${written}\` is no number.`, remedy });
}

function readSign(text: string, at: number, before: Token | undefined): Token | ExpressionFault {
  const wrong = findWrongSign(text, at);
  if (wrong !== undefined) return wrong;
  const sign = SIGNS.find((candidate) => text.startsWith(candidate, at));
  if (sign === undefined) return refuseSign(text, at);
  if (before?.end === at && isNumber(before) && BETWEEN_DIGITS.test(text.slice(at, at + 2)))
    return refuseDigits(text, at);
  return { kind: "sign", text: sign, start: at, end: at + sign.length };
}

const BETWEEN_DIGITS = /^[-+*/%][0-9]/;

function isNumber(token: Token): boolean {
  return token.kind === "literal" && (typeof token.value === "number" || typeof token.value === "bigint");
}

/** `2026-10-31` and `1/2` are hardly meant to be calculated. */
function refuseDigits(text: string, at: number): ExpressionFault {
  const message = `\`${text[at]}\` stands between digits without blanks.`;
  const remedy = `To calculate write blanks around it; write text in single quotes.`;
  return toFault({ start: at, end: at + 1 }, { message, remedy });
}

/** After a value `-` is no longer the sign of a number. */
function endsValue(token: Token | undefined): boolean {
  if (token?.kind === "sign") return token.text === ")" || token.text === "]" || token.text === "}";
  return token !== undefined;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/**
 * Reads a text in quotes from `start`. `\\`, `\'`, `\"`, `\n`, `\r`, `\t` and `\uXXXX` are escapes; a backslash before
 * anything else stays, so that a regular expression such as `'\d+\.'` needs no second one.
 */
function readString(text: string, start: number): LiteralToken | ExpressionFault {
  const quote = text[start];
  let value = "";
  let at = start + 1;
  while (at < text.length && text[at] !== quote) {
    const [written, meant] = readChar(text, at);
    value += meant;
    at += written;
  }
  if (at < text.length) return { kind: "literal", value, start, end: at + 1 };
  const message = `The text that begins here has no closing ${quote === "'" ? "single" : "double"} quote.`;
  const remedy = "Close it; inside of a text write a quote as `\\'`.";
  return toFault({ start, end: text.length }, { message, remedy });
}

/** Escapes as of other texts, and `\\\`` and `\\$`. */
function readTemplate(text: string, start: number): TemplateToken | ExpressionFault {
  const parts: (string | readonly Token[])[] = [""];
  let at = start + 1;
  while (at < text.length && text[at] !== "`") {
    if (text.startsWith("${", at)) {
      const inner = tokenize(text, at + 2);
      if (inner.fault !== undefined) return inner.fault;
      parts.push(inner.tokens, "");
      at = inner.end;
      continue;
    }
    const isEscaped = text[at] === "\\" && /[`$]/.test(text[at + 1] ?? "");
    const [written, meant] = isEscaped ? [2, text[at + 1] ?? ""] : readChar(text, at);
    parts.push(`${String(parts.pop())}${meant}`);
    at += written;
  }
  if (at < text.length) return { kind: "template", parts, start, end: at + 1 };
  const message = "The text that begins here has no closing backtick.";
  return toFault({ start, end: text.length }, { message, remedy: "Close it; inside of it write one as `\\``." });
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);

/** How many characters are written, and what they mean. */
function readChar(text: string, at: number): readonly [number, string] {
  const char = text[at] ?? "";
  if (char !== "\\") return [1, char];
  const hex = /^u([0-9a-fA-F]{4})$/.exec(text.slice(at + 1, at + 6))?.[1];
  if (hex !== undefined) return [6, String.fromCharCode(Number.parseInt(hex, 16))];
  const meant = ESCAPES.get(text[at + 1] ?? "");
  return meant === undefined ? [1, char] : [2, meant];
}

/** A sign of other languages, with what to write instead. To be asked before `<` is found in `<>`. */
function findWrongSign(text: string, at: number): ExpressionFault | undefined {
  for (const [sign, { message, remedy }] of WRONG_SIGNS) {
    if (text.startsWith(sign, at)) return toFault({ start: at, end: at + sign.length }, { message, remedy });
  }
  return undefined;
}

interface Wrong {
  readonly message: string;
  readonly remedy: string;
}

function instead(sign: string, right: string): readonly [string, Wrong] {
  return [sign, { message: `There is no operator \`${sign}\`.`, remedy: `Write \`${right}\`.` }];
}

const BRACES: Wrong = {
  message: "Double braces mean nothing in an expression.",
  remedy: "Write the path alone, without braces. An object is `{name: value}`.",
};

/** Longer ones before their beginnings. */
const WRONG_SIGNS: ReadonlyMap<string, Wrong> = new Map<string, Wrong>([
  instead("===", "=="),
  instead("!==", "!="),
  instead("=~", "matches(text, '...')"),
  instead("=<", "<="),
  instead("<>", "!="),
  instead(">>", ">"),
  instead("<<", "<"),
  instead("?.", "."),
  instead("**", "a * a"),
  instead("//", "floor(a / b)"),
  ["{{", BRACES],
  ...["^", "~"].map((sign): readonly [string, Wrong] => [
    sign,
    { message: `There is no operator \`${sign}\`.`, remedy: "Write text in single quotes." },
  ]),
  [";", { message: "An expression is one value.", remedy: "Remove the `;`." }],
]);

/** Half of an operator, or a character that no expression has. */
function refuseSign(text: string, at: number): ExpressionFault {
  const sign = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const span = { start: at, end: at + sign.length };
  const right = HALF_SIGNS.get(sign);
  if (right !== undefined) return toFault(span, instead(sign, right)[1]);
  const message = `\`${toExcerpt(sign)}\` means nothing in an expression.`;
  return toFault(span, { message, remedy: "Write text in single quotes." });
}

const HALF_SIGNS: ReadonlyMap<string, string> = new Map([
  ["=", "=="],
  ["&", "&&"],
  ["|", "||"],
]);

/** Two values in a row: a word that is an operator elsewhere, a quote inside of a text, or a text without quotes. */
export function refuseSecondValue(before: Token | undefined, token: Exclude<Token, SignToken>): ExpressionFault {
  const operator = token.kind === "name" ? WORD_OPERATORS.get(token.text.toLowerCase()) : undefined;
  if (operator !== undefined) return refuseWord(token, operator);
  if (before?.kind === "name" && before.text.toLowerCase() === "not") return refuseWord(before, "!");
  const message = `An operator is missing before \`${toExcerpt(writtenOf(token))}\`.`;
  return toFault(token, { message, remedy: remedyFor(before, token) });
}

const WORD_OPERATORS: ReadonlyMap<string, string> = new Map([
  ["and", "&&"],
  ["or", "||"],
  ["is", "=="],
  ["eq", "=="],
  ["equals", "=="],
  ["ne", "!="],
  ["lt", "<"],
  ["le", "<="],
  ["gt", ">"],
  ["ge", ">="],
  ["in", "contains(list, value)"],
  ["contains", "contains(list, value)"],
  ["matches", "matches(text, '...')"],
  ["not", "!"],
]);

function refuseWord(token: Token, operator: string): ExpressionFault {
  const written = token.kind === "name" ? token.text : "";
  return toFault(token, { message: `There is no operator \`${written}\`.`, remedy: `Write \`${operator}\`.` });
}

function remedyFor(before: Token | undefined, token: Token): string {
  const areTexts = isText(before) && isText(token) && before?.end === token.start;
  return areTexts ? "Inside of a text write a quote as `\\'`." : "Write text in single quotes.";
}

function isText(token: Token | undefined): boolean {
  return token?.kind === "literal" && typeof token.value === "string";
}

function writtenOf(token: Exclude<Token, SignToken>): string {
  if (token.kind === "name") return token.text;
  if (token.kind === "template") return "`...`";
  return typeof token.value === "string" ? `'${token.value}'` : String(token.value);
}
