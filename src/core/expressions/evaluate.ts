import { isJsonObject, isNumber, type Json } from "../json.ts";
import { isEqual } from "./equality.ts";
import type { Comparison, Expr, FunctionName, PathExpr, Scope } from "./expr.ts";
import { callFunction } from "./functions.ts";
import { readPath } from "./read-path.ts";
import { joinTexts, toText } from "./to-text.ts";
import { Work } from "./work.ts";

/**
 * Evaluates without side effects. Deterministic; a path that leads nowhere is undefined; different types are unequal. Throws
 * `EXPRESSION_TOO_COSTLY` where the limits of time and size are not enough, e.g. for a filter in a filter over a million elements.
 */
export function evaluate(expr: Expr, scope: Scope): Json | undefined {
  const work = new Work(scope);
  const value = evaluateIn(expr, work, undefined);
  work.checkMade(value);
  return value;
}

/** The names that `map`, `filter` and `reduce` have bound, the innermost first. */
interface Local {
  readonly name: string;
  readonly value: Json | undefined;
  readonly outer: Local | undefined;
}

function evaluateIn(expr: Expr, work: Work, locals: Local | undefined): Json | undefined {
  work.pay(1);
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
        work,
      );
    case "object":
      return evaluateEntries(expr.entries, work, locals);
    case "list":
      work.pay(LOOKS_PER_MADE);
      return work.made(expr.items.map((item) => evaluateIn(item, work, locals) ?? null));
    case "not":
      return !isTrue(evaluateIn(expr.of, work, locals));
    case "and":
      return expr.of.every((part) => isTrue(evaluateIn(part, work, locals)));
    case "or":
      return expr.of.some((part) => isTrue(evaluateIn(part, work, locals)));
    case "compare":
      return compare(expr.by, compared(expr.left, work, locals), compared(expr.right, work, locals), work);
    case "defined":
      return evaluateIn(expr.of, work, locals) !== undefined;
    case "if":
      return evaluateIn(isTrue(evaluateIn(expr.of, work, locals)) ? expr.yes : expr.no, work, locals);
    case "first":
      return firstDefined(expr.of, work, locals);
    case "index":
      return readAt(expr, work, locals);
    case "call":
      return call(expr, work, locals);
    case "map":
    case "filter":
      return overList(expr, work, locals);
    case "reduce":
      return reduceList(expr, work, locals);
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

/** A value that is not there equals nothing, not even null: what is compared with it, or calculated, is noted. */
function compared(expr: Expr, work: Work, locals: Local | undefined): Json | undefined {
  const value = evaluateIn(expr, work, locals);
  if (value === undefined && isReference(expr)) work.scope.noteMissing?.(writePath(expr));
  return value;
}

function fill(part: { readonly value: Expr; readonly written: string }, work: Work, locals: Local | undefined): string {
  const value = evaluateIn(part.value, work, locals);
  if (value === undefined || value === null) work.scope.noteMissing?.(part.written || writePath(part.value) || "null");
  return value === undefined ? part.written : toText(value, work);
}

function isReference(expr: Expr): boolean {
  return expr.op === "path" || (expr.op === "first" && expr.of.every(({ op }) => op === "path"));
}

function writePath(expr: Expr): string {
  // What stands in a text is nothing where it is null.
  if (expr.op === "call" && expr.fn === "coalesce" && expr.args[0] !== undefined) return writePath(expr.args[0]);
  const path = expr.op === "first" ? expr.of[0] : expr;
  if (path?.op !== "path") return "";
  return [
    path.root === "local" ? "" : path.root,
    path.name?.replace(/^\$/, "") ?? "",
    ...(path.root === "steps" ? ["output"] : []),
    ...path.path,
  ]
    .filter((part) => part !== "")
    .join(".");
}

function evaluateEntries(entries: { readonly [name: string]: Expr }, work: Work, locals: Local | undefined): Json {
  const result: [string, Json][] = [];
  work.pay(LOOKS_PER_MADE);
  for (const [name, entry] of Object.entries(entries)) {
    work.pay(LOOKS_PER_NAME);
    const value = evaluateIn(entry, work, locals);
    if (value !== undefined) result.push([name, value]);
    else if (isReference(entry)) work.scope.noteMissing?.(writePath(entry));
  }
  // `fromEntries` defines own properties: a name such as `__proto__` stays data.
  return work.made(Object.fromEntries(result));
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

/** What is calculated with a value that is not there is not there either. */
const CALCULATES: ReadonlySet<FunctionName> = new Set(["add", "multiply", "divide", "remainder", "negate", "sum"]);

function call(expr: Extract<Expr, { op: "call" }>, work: Work, locals: Local | undefined): Json | undefined {
  const read = CALCULATES.has(expr.fn) ? compared : evaluateIn;
  const args = expr.args.map((arg) => read(arg, work, locals));
  const { once = 0, times = 1 } = DEAR.get(expr.fn) ?? {};
  work.pay(once);
  for (const arg of args) work.pay(times * priceOf(arg));
  const result = callFunction(expr.fn, args, work);
  work.pay(times * priceOf(result));
  return work.made(result);
}

interface Dear {
  readonly once?: number;
  readonly times?: number;
}

/** What a call takes beside looking at its arguments and its result, and how many times as long it looks at them. Measured. */
const DEAR: ReadonlyMap<FunctionName, Dear> = new Map<FunctionName, Dear>([
  ["split", { times: 8 }],
  ...(["join", "parseJson"] as const).map((fn) => [fn, { times: 16 }] as const),
  ...(["base64", "fromBase64", "hash", "replace"] as const).map((fn) => [fn, { times: 250 }] as const),
  ...(["add", "multiply", "remainder"] as const).map((fn) => [fn, { once: 6 }] as const),
  ...(["divide", "addTime", "timeBetween"] as const).map((fn) => [fn, { once: 50 }] as const),
  ["uuid", { once: 300 }],
]);

/** A new list or object, and each name in one. */
const LOOKS_PER_MADE = 8;
const LOOKS_PER_NAME = 8;

/** The work of looking at a text or at each part of a value, in the measure of `MAX_WORK`. */
function priceOf(value: Json | undefined): number {
  if (typeof value === "string") return value.length >> 8;
  if (Array.isArray(value)) return value.length >> 2;
  return isJsonObject(value) ? LOOKS_PER_NAME * Object.keys(value).length : 0;
}

function compare(by: Comparison, left: Json | undefined, right: Json | undefined, work: Work): boolean {
  switch (by) {
    case "==":
      return isEqual(left, right, work);
    case "!=":
      return !isEqual(left, right, work);
    case "<":
      return isBelow(left, right);
    case "<=":
      return isBelow(left, right) || isSameOrdered(left, right, work);
    case ">":
      return isBelow(right, left);
    case ">=":
      return isBelow(right, left) || isSameOrdered(left, right, work);
  }
}

function isBelow(left: Json | undefined, right: Json | undefined): boolean {
  if (isNumber(left) && isNumber(right)) return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}

/** Equal, and of a kind that has an order. */
function isSameOrdered(left: Json | undefined, right: Json | undefined, work: Work): boolean {
  return (isNumber(left) || typeof left === "string") && isEqual(left, right, work);
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
    if (expr.op === "map") result.push(value ?? null);
    else if (isTrue(value)) result.push(item);
  }
  return work.made(result);
}

function reduceList(
  { list: of, first, into, as, body }: Extract<Expr, { op: "reduce" }>,
  work: Work,
  locals: Local | undefined,
): Json | undefined {
  const list = evaluateIn(of, work, locals);
  if (!Array.isArray(list)) return undefined;
  let result = evaluateIn(first, work, locals);
  for (const value of list as readonly Json[]) {
    result = evaluateIn(body, work, { name: as, value, outer: { name: into, value: result, outer: locals } });
    // Each round may nest it one level deeper, or double it.
    work.payWalk(result);
  }
  return result;
}
