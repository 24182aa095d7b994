import type { Expression } from "../syntax/nodes.ts";

/** A path as it is written: `order.items[0]`. Undefined: the expression is something else. */
export function pathOf(node: Expression): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "attribute" && node.kind !== "item") return undefined;
  const object = pathOf(node.object);
  if (object === undefined) return undefined;
  if (node.kind === "attribute") return `${object}.${node.name}`;
  if (node.index.kind !== "constant") return undefined;
  const { value } = node.index;
  return typeof value === "string" ? `${object}['${value}']` : `${object}[${value}]`;
}
