import type { Expr } from "../../../core/expressions/expr.ts";
import { didYouMean } from "../../did-you-mean.ts";
import { toExcerpt } from "../../source/printable.ts";
import { type ExpressionFault, type ExpressionScope, toFault } from "./expression-fault.ts";
import { FUNCTIONS } from "./functions.ts";
import { parseTree } from "./parse-tree.ts";
import { visibleRoots } from "./resolve-path.ts";
import { tokenize } from "./tokenize.ts";
import { Translator } from "./translator.ts";

export type ParsedExpression =
  | { readonly ok: true; readonly expr: Expr; readonly readsLastError: boolean }
  | { readonly ok: false; readonly faults: readonly ExpressionFault[] };

const MAX_CHARS = 10_000;
const MAX_FAULTS = 20;

/**
 * Reads an expression of the UHLP dialect; `docs/uhlp-expressions.md` describes the language. Never throws: what is wrong
 * is a fault with its place in the text and, where there is one, a remedy.
 */
export function parseExpression(text: string, scope: ExpressionScope): ParsedExpression {
  if (text.length > MAX_CHARS) return { ok: false, faults: [tooLong(text)] };
  const parsed = parse(text, scope);
  if (parsed.ok) return parsed;
  const plain = refusePlainText(text, scope);
  return { ok: false, faults: plain === undefined ? parsed.faults.slice(0, MAX_FAULTS) : [plain] };
}

function parse(text: string, scope: ExpressionScope): ParsedExpression {
  const { tokens, fault } = tokenize(text);
  if (fault !== undefined) return { ok: false, faults: [fault] };
  const parsed = parseTree(tokens);
  if (parsed.fault !== undefined) return { ok: false, faults: [parsed.fault] };
  const translator = new Translator(scope);
  const expr = translator.translate(parsed.tree);
  const { faults, readsLastError } = translator;
  return faults.length === 0 ? { ok: true, expr, readsLastError } : { ok: false, faults };
}

function tooLong(text: string): ExpressionFault {
  const message = `The expression is longer than ${MAX_CHARS} characters.`;
  return toFault({ start: 0, end: text.length }, { code: "EXPRESSION_TOO_COMPLEX", message });
}

/** For a text that is no expression: a fault if it looks as if it was meant as it stands, e.g. `application/json`. */
function refusePlainText(text: string, scope: ExpressionScope): ExpressionFault | undefined {
  const trimmed = text.trim();
  if (!URL_LIKE.test(trimmed) && !isPlain(trimmed, scope)) return undefined;
  const start = text.indexOf(trimmed);
  const written = toExcerpt(trimmed);
  const message = `\`${written}\` is neither a path nor a value.`;
  // YAML takes one pair of quotes away.
  const remedy = `Write text in single quotes inside of double ones: \`"'${written}'"\`.`;
  return toFault({ start, end: start + trimmed.length }, { message, remedy });
}

const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\/[^\s'"`]+$/i;
const NUMBER_LIKE = /^-?[0-9.]+(?:e[+-]?[0-9]+)?$/i;
/** Operators, brackets and quotes: signs of an attempted expression. */
const HAS_SIGNS = /['"`()[\]{}<>=!&|]|\s[-+*/%?]\s|\s(?:and|or|not)\s/i;

function isPlain(text: string, scope: ExpressionScope): boolean {
  const word = /^[/@#~]?([\p{L}\p{N}_-]+)/u.exec(text)?.[1];
  if (word === undefined || HAS_SIGNS.test(text) || NUMBER_LIKE.test(text)) return false;
  const names = [...visibleRoots(scope), ...OTHER_WORDS, ...FUNCTIONS.keys()];
  return !names.includes(word) && didYouMean(word, names) === undefined;
}

/** Literals, roots that are not visible here, and words that mean something elsewhere. */
const OTHER_WORDS = [
  ...["true", "false", "null", "undefined", "None", "nil", "not", "this"],
  ...["input", "step", "error", "item", "index", "output"],
];
