import type { Expr } from "../../../core/expressions/expr.ts";
import type { SetStep } from "../../../core/graph/graph.ts";
import { call, literal, outputOf, toObject } from "../../build-expr.ts";
import type { YamlNode } from "../../source/yaml-node.ts";
import { freeId } from "./lower-context.ts";
import { lowerValue, type ValueScope } from "./lower-value.ts";

export interface LoweredList {
  readonly list: Expr;
  /** Steps of a dag that compute it. */
  readonly before: readonly SetStep[];
  readonly after: readonly string[];
}

/**
 * The list of a fan-out, from one place: what is not simply a path to an output or the input is computed once, before.
 * Null is no list: then the path leads nowhere, and the fan-out fails.
 */
export function lowerList(node: YamlNode, scope: ValueScope): LoweredList {
  const expr = lowerValue(node, scope);
  const list = call("coalesce", expr);
  if (expr.op === "path" && (expr.root === "steps" || expr.root === "input")) return { list, before: [], after: [] };
  const id = freeId("list", scope.context, scope.flow.fanOuts);
  const value = toObject([["items", list]]);
  return { list: outputOf(id, "items"), before: [{ kind: "set", id, value }], after: [id] };
}

/** The same where failures of items count for nothing: what is no list still has to fail. */
export function lowerCheckedList(node: YamlNode, scope: ValueScope): LoweredList {
  const { list, before, after } = lowerList(node, scope);
  const id = freeId("checked", scope.context, scope.flow.fanOuts);
  const check: SetStep = { kind: "set", id, after, each: eachWhole(list), value: wholeOf(id) };
  return { list: outputOf(id, 0), before: [...before, check], after: [id] };
}

/** A fan-out with one item, which is the whole list: so what is no list fails as it does in a loop. */
export function eachWhole(list: Expr): NonNullable<SetStep["each"]> {
  const isList: Expr = {
    op: "compare",
    by: ">=",
    left: call("itemCount", list),
    right: literal(0),
  };
  const whole = toObject([["true", { op: "list", items: [list] }]]);
  const at = call("toString", isList);
  return { list: { op: "index", of: whole, at }, maxConcurrent: 1 };
}

/** The list, in a step that fans out over the whole of it. */
export function wholeOf(step: string): Expr {
  return { op: "path", root: "item", name: step, path: [] };
}
