import type { Span } from "./expression-fault.ts";
import type { Tree } from "./parse-tree.ts";

/** Where a tree stands, from its first value to its last; brackets at its ends are left out. */
export function spanOf(tree: Tree): Span {
  const leaves = leavesOf(tree);
  return { start: leaves[0]?.start ?? 0, end: leaves.at(-1)?.end ?? 0 };
}

function leavesOf(tree: Tree): readonly Span[] {
  switch (tree.kind) {
    case "name":
    case "literal":
      return [tree];
    case "field":
      return [...leavesOf(tree.of), tree.name];
    case "index":
      return [...leavesOf(tree.of), ...leavesOf(tree.at)];
    case "call":
      return [tree.callee, ...tree.args].flatMap(leavesOf);
    case "arrow":
      return [...leavesOf(tree.as), ...leavesOf(tree.body)];
    case "list":
      return tree.items.flatMap(leavesOf);
    case "not":
      return leavesOf(tree.of);
    case "and":
    case "or":
      return tree.of.flatMap(leavesOf);
    case "compare":
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
  }
}
