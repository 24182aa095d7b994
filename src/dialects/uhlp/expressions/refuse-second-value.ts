import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, toFault } from "./expression-fault.ts";
import type { LiteralToken, NameToken, Token } from "./token.ts";

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
