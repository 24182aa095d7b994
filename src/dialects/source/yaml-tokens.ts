import type { CST } from "yaml";

/** The offset at which the text is nested more deeply than allowed. The parser keeps a stack of its own, but what follows it recurses. */
export function findTooDeep(tokens: readonly CST.Token[], maxDepth: number): number | undefined {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > maxDepth) return token.offset;
    for (const child of childrenOf(token)) open.push({ token: child, depth: depth + 1 });
  }
  return undefined;
}

export function childrenOf(token: CST.Token): readonly CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (token.type !== "block-map" && token.type !== "block-seq" && token.type !== "flow-collection") return [];
  const children: CST.Token[] = [];
  for (const { key, value } of token.items as readonly CST.CollectionItem[]) {
    if (key) children.push(key);
    if (value) children.push(value);
  }
  return children;
}
