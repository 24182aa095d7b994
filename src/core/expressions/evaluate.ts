import { isNumber, type Json } from "../json.ts";
import { isEqual } from "./equality.ts";
import { type Comparison, type Expr, MAX_WORK, type PathExpr, type Scope } from "./expr.ts";
import { callFunction } from "./functions.ts";
import { readPath } from "./read-path.ts";
import { joinTexts, toText } from "./to-text.ts";

/**
 * Evaluates without side effects. Deterministic; a path that leads nowhere is undefined; different types are unequal.
 * An evaluation that takes more than `MAX_WORK` is undefined as a whole, e.g. a filter in a filter over a million elements.
 */
export function evaluate(expr: Expr, scope: Scope): Json | undefined {
  const work: Work = { scope, left: MAX_WORK };
  const value = evaluateIn(expr, work, undefined);
  return work.left < 0 ? undefined : value;
}

/** One evaluation under way. */
interface Work {
  readonly scope: Scope;
  left: number;
}

/** The names that `map` and `filter` have bound, the innermost first. */
interface Local {
  readonly name: string;
  readonly value: Json;
  readonly outer: Local | undefined;
}

function evaluateIn(expr: Expr, work: Work, locals: Local | undefined): Json | undefined {
  work.left -= 1;
  if (work.left < 0) return undefined;
  switch (expr.op) {
    case "literal":
      return expr.value;
    case "path":
      return expr.root === "local" ? readLocal(expr, work, locals) : work.scope.path(expr);
    case "known":
      return work.scope.known?.(expr);
    case "text":
      return joinTexts(
        expr.parts.map((part) => (typeof part === "string" ? part : fill(part, work, locals))),
        "",
      );
    case "object":
      return evaluateEntries(expr.entries, work, locals);
    case "list":
      return expr.items.map((item) => evaluateIn(item, work, locals) ?? null);
    case "not":
      return !isTrue(evaluateIn(expr.of, work, locals));
    case "and":
      return expr.of.every((part) => isTrue(evaluateIn(part, work, locals)));
    case "or":
      return expr.of.some((part) => isTrue(evaluateIn(part, work, locals)));
    case "compare":
      return compare(expr.by, evaluateIn(expr.left, work, locals), evaluateIn(expr.right, work, locals));
    case "defined":
      return evaluateIn(expr.of, work, locals) !== undefined;
    case "first":
      return firstDefined(expr.of, work, locals);
    case "index":
      return readAt(expr, work, locals);
    case "call":
      return call(expr, work, locals);
    case "map":
    case "filter":
      return overList(expr, work, locals);
  }
}

function isTrue(value: Json | undefined): boolean {
  return value === true;
}

function readLocal(expr: PathExpr, work: Work, locals: Local | undefined): Json | undefined {
  let local = locals;
  while (local !== undefined && local.name !== expr.name) local = local.outer;
  return readPath(local?.value, expr.path, expr.readsJson, work.scope);
}

function fill(
  part: { readonly value: Expr; readonly written: string },
  work: Work,
  locals: Local | undefined,
): string | undefined {
  const value = evaluateIn(part.value, work, locals);
  return value === undefined ? part.written : toText(value);
}

function evaluateEntries(entries: { readonly [name: string]: Expr }, work: Work, locals: Local | undefined): Json {
  const result: [string, Json][] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const value = evaluateIn(entry, work, locals);
    if (value !== undefined) result.push([name, value]);
  }
  // `fromEntries` defines own properties: a name such as `__proto__` stays data.
  return Object.fromEntries(result);
}

function firstDefined(candidates: readonly Expr[], work: Work, locals: Local | undefined): Json | undefined {
  for (const candidate of candidates) {
    const value = evaluateIn(candidate, work, locals);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readAt(expr: Extract<Expr, { op: "index" }>, work: Work, locals: Local | undefined): Json | undefined {
  const value = evaluateIn(expr.of, work, locals);
  const at = evaluateIn(expr.at, work, locals);
  // No list is so long, but an object may have such a name.
  const key = typeof at === "bigint" ? String(at) : at;
  const isKey = typeof key === "string" || typeof key === "number";
  return isKey ? readPath(value, [key], expr.readsJson, work.scope) : undefined;
}

function call(expr: Extract<Expr, { op: "call" }>, work: Work, locals: Local | undefined): Json | undefined {
  const args = expr.args.map((arg) => evaluateIn(arg, work, locals));
  for (const arg of args) work.left -= sizeOf(arg);
  if (expr.fn === "matches") work.left -= searchSize(args);
  if (work.left < 0) return undefined;
  const result = callFunction(expr.fn, args, work.scope);
  work.left -= sizeOf(result);
  return result;
}

/** A regular expression looks at every character with every part of the pattern. */
function searchSize([text, pattern]: readonly (Json | undefined)[]): number {
  return typeof text === "string" && typeof pattern === "string" ? Math.ceil((text.length * pattern.length) / 16) : 0;
}

/** The work of a function, in the measure of `MAX_WORK`. Large objects in a loop are rare and left out. */
function sizeOf(value: Json | undefined): number {
  if (typeof value === "string") return value.length >> 5;
  return Array.isArray(value) ? value.length >> 2 : 0;
}

function compare(by: Comparison, left: Json | undefined, right: Json | undefined): boolean {
  switch (by) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return isBelow(left, right);
    case "<=":
      return isBelow(left, right) || isSameOrdered(left, right);
    case ">":
      return isBelow(right, left);
    case ">=":
      return isBelow(right, left) || isSameOrdered(left, right);
  }
}

function isBelow(left: Json | undefined, right: Json | undefined): boolean {
  if (isNumber(left) && isNumber(right)) return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}

/** Equal, and of a kind that has an order. */
function isSameOrdered(left: Json | undefined, right: Json | undefined): boolean {
  return (isNumber(left) || typeof left === "string") && isEqual(left, right);
}

function overList(
  expr: Extract<Expr, { op: "map" | "filter" }>,
  work: Work,
  locals: Local | undefined,
): Json | undefined {
  const list = evaluateIn(expr.list, work, locals);
  if (!Array.isArray(list)) return undefined;
  const result: Json[] = [];
  for (const item of list as readonly Json[]) {
    const value = evaluateIn(expr.body, work, { name: expr.as, value: item, outer: locals });
    if (work.left < 0) return undefined;
    if (expr.op === "map") result.push(value ?? null);
    else if (isTrue(value)) result.push(item);
  }
  return result;
}
