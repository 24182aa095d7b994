import type { Expr, TextPart } from "../../../core/expressions/expr.ts";
import { first, inputAt, literal, outputOf, toObject } from "../../build-expr.ts";
import type { Path, Reference } from "../references/reference.ts";
import type { Template } from "../references/template.ts";
import type { Value } from "../references/value.ts";

export interface ExprScope {
  /** Names that the input declares. */
  readonly declared: ReadonlySet<string>;
  /** The step may run once per item, so that an undeclared name may be a field of it. */
  readonly perItem: boolean;
  /** Declared fields of the item, if any are. */
  readonly itemFields?: ReadonlySet<string> | undefined;
}

export function lowerReference(reference: Reference, scope: ExprScope): Expr {
  switch (reference.to) {
    case "input":
      return lowerInput(reference.path, scope);
    case "step":
      return outputOf(reference.step, ...reference.path);
    case "item":
      return { op: "path", root: "item", path: reference.path };
    case "storage":
      return { op: "path", root: "storage", name: reference.file, path: [] };
    case "run":
      return { op: "path", root: "run", path: [reference.field] };
    case "env":
      return { op: "path", root: "env", name: reference.name, path: [] };
  }
}

export function lowerTemplate(template: Template, scope: ExprScope): Expr {
  const parts = lowerParts(template, scope);
  return joinParts(parts);
}

export function lowerParts(template: Template, scope: ExprScope): readonly TextPart[] {
  return template.parts.map((part) =>
    typeof part === "string" ? part : { value: lowerReference(part.reference, scope), written: part.written },
  );
}

export function joinParts(parts: readonly TextPart[]): Expr {
  if (parts.every((part) => typeof part === "string")) return literal(parts.join(""));
  return { op: "text", parts };
}

export function lowerValue(value: Value, scope: ExprScope): Expr {
  switch (value.kind) {
    case "literal":
      return literal(value.value);
    case "template":
      return lowerTemplate(value.template, scope);
    case "slot":
      return lowerReference(value.slot.reference, scope);
    case "map":
      return toObject([...value.entries].map(([name, entry]) => [name, lowerValue(entry, scope)]));
    case "list":
      return { op: "list", items: value.items.map((item) => lowerValue(item, scope)) };
  }
}

/**
 * Which of the two an undeclared name is, only the run's input tells: what the input has wins over the item, unless the
 * item's schema declares the name. `_item` and
 * `_index` are also what a workflow that was called once per item finds in its input.
 */
function lowerInput(path: Path, scope: ExprScope): Expr {
  const fromInput = inputAt(...path);
  const [name, ...rest] = path;
  if (name === undefined || !scope.perItem || scope.declared.has(String(name))) return fromInput;
  if (name === "_item") return first({ op: "path", root: "item", path: rest }, fromInput);
  if (name === "_index") return first({ op: "path", root: "index", path: rest }, fromInput);
  const ofItem = { op: "path", root: "item", path } as const;
  return scope.itemFields?.has(String(name)) ? first(ofItem, fromInput) : first(fromInput, ofItem);
}
