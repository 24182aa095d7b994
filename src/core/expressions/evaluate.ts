import type { Json } from "../json.ts";
import { isEqual } from "./equality.ts";
import type { Comparison, Expr, PathExpr } from "./expr.ts";
import { callFunction } from "./functions.ts";
import { readKey, readPath } from "./read-path.ts";
import type { Scope } from "./scope.ts";
import { toText } from "./to-text.ts";

type Locals = ReadonlyMap<string, Json>;

const NO_LOCALS: Locals = new Map();

/** Evaluates without side effects. Deterministic; a path that leads nowhere is undefined; different types are unequal. */
export function evaluate(expr: Expr, scope: Scope, locals: Locals = NO_LOCALS): Json | undefined {
  switch (expr.op) {
    case "literal":
      return expr.value;
    case "path":
      return expr.root === "local" ? readLocal(expr, locals) : scope.path(expr);
    case "known":
      return scope.known?.(expr);
    case "text":
      return expr.parts.map((part) => (typeof part === "string" ? part : fill(part, scope, locals))).join("");
    case "object":
      return evaluateEntries(expr.entries, scope, locals);
    case "list":
      return expr.items.map((item) => evaluate(item, scope, locals) ?? null);
    case "not":
      return !isTrue(evaluate(expr.of, scope, locals));
    case "and":
      return expr.of.every((part) => isTrue(evaluate(part, scope, locals)));
    case "or":
      return expr.of.some((part) => isTrue(evaluate(part, scope, locals)));
    case "compare":
      return compare(expr.by, evaluate(expr.left, scope, locals), evaluate(expr.right, scope, locals));
    case "defined":
      return evaluate(expr.of, scope, locals) !== undefined;
    case "first":
      return firstDefined(expr.of, scope, locals);
    case "index":
      return readAt(evaluate(expr.of, scope, locals), evaluate(expr.at, scope, locals));
    case "call":
      return callFunction(
        expr.fn,
        expr.args.map((arg) => evaluate(arg, scope, locals)),
        scope,
      );
    case "map":
    case "filter":
      return overList(expr, scope, locals);
  }
}

function isTrue(value: Json | undefined): boolean {
  return value === true;
}

function readLocal(expr: PathExpr, locals: Locals): Json | undefined {
  return readPath(locals.get(expr.name ?? ""), expr.path, expr.readsJson);
}

function fill(part: { readonly value: Expr; readonly written: string }, scope: Scope, locals: Locals): string {
  const value = evaluate(part.value, scope, locals);
  return value === undefined ? part.written : toText(value);
}

function evaluateEntries(entries: { readonly [name: string]: Expr }, scope: Scope, locals: Locals): Json {
  const result: [string, Json][] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const value = evaluate(entry, scope, locals);
    if (value !== undefined) result.push([name, value]);
  }
  // `fromEntries` defines own properties: a name such as `__proto__` stays data.
  return Object.fromEntries(result);
}

function firstDefined(candidates: readonly Expr[], scope: Scope, locals: Locals): Json | undefined {
  for (const candidate of candidates) {
    const value = evaluate(candidate, scope, locals);
    if (value !== undefined) return value;
  }
  return undefined;
}

function readAt(value: Json | undefined, at: Json | undefined): Json | undefined {
  return typeof at === "string" || typeof at === "number" ? readKey(value, at) : undefined;
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
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}

/** Equal, and of a kind that has an order. */
function isSameOrdered(left: Json | undefined, right: Json | undefined): boolean {
  return left === right && (typeof left === "number" || typeof left === "string");
}

function overList(expr: Extract<Expr, { op: "map" | "filter" }>, scope: Scope, locals: Locals): Json | undefined {
  const list = evaluate(expr.list, scope, locals);
  if (!Array.isArray(list)) return undefined;
  const bodyOf = (item: Json) => evaluate(expr.body, scope, new Map([...locals, [expr.as, item]]));
  if (expr.op === "filter") return list.filter((item: Json) => isTrue(bodyOf(item)));
  return list.map((item: Json) => bodyOf(item) ?? null);
}
