import type { Expr } from "../../../core/expressions/expr.ts";
import { checkOrder } from "./check-order.ts";
import { type ExpressionFault, toFault } from "./expression-fault.ts";
import type { ExpressionScope } from "./expression-scope.ts";
import { parseTree } from "./parse-tree.ts";
import { refusePlainText } from "./refuse-plain-text.ts";
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
  const early = fault ?? checkOrder(tokens);
  if (early !== undefined) return { ok: false, faults: [early] };
  const translator = new Translator(scope);
  const expr = translator.translate(parseTree(tokens ?? []));
  const { faults, readsLastError } = translator;
  return faults.length === 0 ? { ok: true, expr, readsLastError } : { ok: false, faults };
}

function tooLong(text: string): ExpressionFault {
  const message = `The expression is longer than ${MAX_CHARS} characters.`;
  return toFault({ start: 0, end: text.length }, { code: "EXPRESSION_TOO_COMPLEX", message });
}
