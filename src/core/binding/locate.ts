import type { Expr, PathExpr } from "../expressions/expr.ts";
import { type Handle, SINGLE_ITEM } from "../history/run-state.ts";
import { handleOf, type SeenStep, type seeItem, seeStep, type Viewpoint } from "../interpreter/lookup.ts";

/** Finds a step's output as seen from an instance. Undefined: it has none yet. */
export function locateStep(from: Viewpoint, path: PathExpr): Handle | undefined {
  const seen = seeStep(from, path.name ?? "");
  return seen === undefined ? undefined : locateSeen(seen, path.path[0]);
}

function locateSeen(seen: SeenStep, first: string | number | undefined): Handle | undefined {
  if (seen.kind === "one") return handleOf(seen.state, seen.item);
  if (seen.state.items < 0) return undefined;
  const handles: Handle[] = [];
  // Only the instance that the path names is loaded, where it names one.
  for (const [item] of seen.state.handle.entries()) {
    const isWanted = typeof first !== "number" || first === item;
    handles.push(isWanted ? (handleOf(seen.state, item) ?? 0) : 0);
  }
  return { kind: "list", handles };
}

export type LocatedItem =
  /** The list is the outputs of a fan-out: the item is one of them. */
  | { readonly kind: "handle"; readonly handle: Handle }
  /** The item is the element `index` of what the list evaluates to. */
  | {
      readonly kind: "list";
      readonly list: Expr;
      readonly from: Viewpoint;
      readonly index: number;
      readonly coerce: boolean;
    }
  | { readonly kind: "none" };

export function locateItem(seen: NonNullable<ReturnType<typeof seeItem>>): LocatedItem {
  const each = seen.scope.flow.steps[seen.origin]?.step.each;
  if (each === undefined) return { kind: "none" };
  const from = { scope: seen.scope, step: seen.origin, item: SINGLE_ITEM };
  const { list } = each;
  if (list.op === "path" && list.root === "steps" && list.path.length === 0) {
    const outputs = seeStep(from, list.name ?? "");
    const handle = outputs?.kind === "all" ? handleOf(outputs.state, seen.item) : undefined;
    if (handle !== undefined) return { kind: "handle", handle };
  }
  return { kind: "list", list, from, index: seen.item, coerce: each.coerce === true };
}
