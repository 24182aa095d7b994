import type { Range } from "../source/source-text.ts";
import type { YamlMap, YamlNode } from "../source/yaml-node.ts";

type Key = string | number;

/** The node that a path leads to, or the deepest one on the way to it: there is always a place to point at. */
export function nodeAt(root: YamlNode, ...path: readonly Key[]): YamlNode {
  let node = root;
  for (const key of path) {
    const next = stepInto(node, key);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** The key itself, rather than its value. */
export function keyAt(map: YamlMap, key: string): Range {
  return map.entries.get(key)?.key ?? { start: map.start, end: Math.min(map.end, map.start + 1) };
}

export function mapAt(root: YamlNode, ...path: readonly Key[]): YamlMap | undefined {
  const node = nodeAt(root, ...path);
  return node.kind === "map" ? node : undefined;
}

function stepInto(node: YamlNode, key: Key): YamlNode | undefined {
  if (node.kind === "map") return node.entries.get(String(key))?.value;
  return node.kind === "list" ? node.items[Number(key)] : undefined;
}
