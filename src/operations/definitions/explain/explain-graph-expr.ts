import { writeExact } from "../../../core/exact-json.ts";
import type { Expr, PathExpr, TextPart } from "../../../core/expressions/expr.ts";
import type { Step } from "../../../core/graph/graph.ts";

/** The place where `liftControls` has put the value that a control expression reads. */
export interface KnownPlaces {
  readonly input: { readonly [key: string]: Expr } | undefined;
  /** Steps as seen from the expression: own flow first, then outwards. */
  findStep(id: string): Step | undefined;
}

/** An expression in a line that people can read. For showing only: it is no dialect and is never parsed. */
export function showExpr(expr: Expr, places: KnownPlaces): string {
  const show = (inner: Expr) => showExpr(inner, places);
  switch (expr.op) {
    case "literal":
      return writeExact(expr.value);
    case "path":
      return showPath(expr);
    case "text":
      return expr.parts.map((part) => showPart(part, places)).join("");
    case "object":
      return `{${Object.entries(expr.entries)
        .map(([name, entry]) => `${name}: ${show(entry)}`)
        .join(", ")}}`;
    case "list":
      return `[${expr.items.map(show).join(", ")}]`;
    case "not":
      return `not (${show(expr.of)})`;
    case "and":
    case "or":
      return expr.of
        .map((part) => (part.op === "and" || part.op === "or" ? `(${show(part)})` : show(part)))
        .join(` ${expr.op} `);
    case "compare":
      return `${show(expr.left)} ${expr.by} ${show(expr.right)}`;
    case "defined":
      return `${show(expr.of)} is there`;
    case "first":
      return `first of (${expr.of.map(show).join(", ")})`;
    case "index":
      return `${show(expr.of)}[${show(expr.at)}]`;
    case "call":
      return `${expr.fn}(${expr.args.map(show).join(", ")})`;
    case "map":
    case "filter":
      return `${expr.op}(${show(expr.list)}, ${expr.as} -> ${show(expr.body)})`;
    case "known":
      return showKnown(expr, places);
  }
}

function showKnown({ step, key }: Extract<Expr, { op: "known" }>, places: KnownPlaces): string {
  const project = step === "" ? places.input : places.findStep(step)?.project;
  const lifted = project !== undefined && Object.hasOwn(project, key) ? project[key] : undefined;
  if (lifted === undefined) return `${step || "input"}.${key}`;
  const text = showExpr(lifted, places);
  // At its home the value was just `output`; from here it has a name.
  return step === "" ? text : text.replaceAll(/\boutput\b/g, `steps.${step}.output`);
}

function showPath({ root, name, path }: PathExpr): string {
  const start =
    root === "steps" ? `steps.${name ?? ""}.output` : root === "local" ? (name ?? "") : rootName(root, name);
  return path.reduce<string>((text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${key}`), start);
}

function rootName(root: PathExpr["root"], name: string | undefined): string {
  return name === undefined ? root : `${root}.${name}`;
}

function showPart(part: TextPart, places: KnownPlaces): string {
  return typeof part === "string" ? part : `{${showExpr(part.value, places)}}`;
}
