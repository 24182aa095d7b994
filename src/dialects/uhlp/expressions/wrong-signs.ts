import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, toFault } from "./expression-fault.ts";
import type { LiteralToken, NameToken, Token } from "./token.ts";

/** A sign of other languages, with what to write instead. To be asked before `<` is found in `<>`. */
export function findWrongSign(text: string, at: number): ExpressionFault | undefined {
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

function arithmetic(sign: string): readonly [string, Wrong] {
  const remedy = "Calculate in a `jit` step. If it belongs to a text, write the whole text in single quotes.";
  return [sign, { message: `Expressions do not calculate: there is no \`${sign}\`.`, remedy }];
}

const TERNARY: Wrong = {
  message: "There is no `? :`.",
  remedy: "Choose with a condition in `transitions`, or with `coalesce(...)`.",
};
const BRACES: Wrong = {
  message: "Braces mean nothing in an expression.",
  remedy: "Write the path alone, without braces. For an object write a YAML map, or `merge(...)`.",
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
  instead("??", "coalesce(a, b)"),
  instead("?.", "."),
  ["?", TERNARY],
  [":", TERNARY],
  ["{", BRACES],
  ["}", BRACES],
  [
    "+",
    {
      message: "Expressions do not calculate: there is no `+`.",
      remedy: "Put texts together with `join([a, b], '')`; calculate in a `jit` step.",
    },
  ],
  ...["-", "*", "/", "%", "^", "~"].map(arithmetic),
  ["`", { message: "There are no template strings.", remedy: "Put texts together with `join(['Hello ', name], '')`." }],
  [";", { message: "An expression is one value.", remedy: "Remove the `;`." }],
]);

/** Half of an operator, or a character that no expression has. */
export function refuseSign(text: string, at: number): ExpressionFault {
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
export function refuseSecondValue(before: Token | undefined, token: NameToken | LiteralToken): ExpressionFault {
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

function writtenOf(token: NameToken | LiteralToken): string {
  if (token.kind === "name") return token.text;
  return typeof token.value === "string" ? `'${token.value}'` : String(token.value);
}
