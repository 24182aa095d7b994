import type { Expr, PathExpr } from "./expr.ts";

/** Calls `visit` for every path in the expression, locals included. */
export function walkPaths(expr: Expr, visit: (path: PathExpr) => void): void {
  if (expr.op === "path") visit(expr);
  else for (const child of childrenOf(expr)) walkPaths(child, visit);
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.op) {
    case "literal":
    case "path":
    case "known":
      return [];
    case "text":
      return expr.parts.flatMap((part) => (typeof part === "string" ? [] : [part.value]));
    case "object":
      return Object.values(expr.entries);
    case "list":
      return expr.items;
    case "not":
    case "defined":
      return [expr.of];
    case "and":
    case "or":
    case "first":
      return expr.of;
    case "compare":
      return [expr.left, expr.right];
    case "if":
      return [expr.of, expr.yes, expr.no];
    case "index":
      return [expr.of, expr.at];
    case "call":
      return expr.args;
    case "map":
    case "filter":
      return [expr.list, expr.body];
    case "reduce":
      return [expr.list, expr.first, expr.body];
  }
}

export function mapChildren(expr: Expr, replace: (child: Expr) => Expr): Expr {
  switch (expr.op) {
    case "literal":
    case "path":
    case "known":
      return expr;
    case "text":
      return {
        ...expr,
        parts: expr.parts.map((part) => (typeof part === "string" ? part : { ...part, value: replace(part.value) })),
      };
    case "object":
      return {
        ...expr,
        entries: Object.fromEntries(Object.entries(expr.entries).map(([name, entry]) => [name, replace(entry)])),
      };
    case "list":
      return { ...expr, items: expr.items.map(replace) };
    case "not":
    case "defined":
      return { ...expr, of: replace(expr.of) };
    case "and":
    case "or":
    case "first":
      return { ...expr, of: expr.of.map(replace) };
    case "compare":
      return { ...expr, left: replace(expr.left), right: replace(expr.right) };
    case "if":
      return { ...expr, of: replace(expr.of), yes: replace(expr.yes), no: replace(expr.no) };
    case "index":
      return { ...expr, of: replace(expr.of), at: replace(expr.at) };
    case "call":
      return { ...expr, args: expr.args.map(replace) };
    case "map":
    case "filter":
      return { ...expr, list: replace(expr.list), body: replace(expr.body) };
    case "reduce":
      return { ...expr, list: replace(expr.list), first: replace(expr.first), body: replace(expr.body) };
  }
}
