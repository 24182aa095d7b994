import type { Problem } from "../core/errors/problem.ts";
import type { Graph } from "../core/graph/graph.ts";
import { checkGrant, type Lack, remedyFor } from "../core/trust/check-grant.ts";
import type { Grant } from "../core/trust/grant.ts";
import { dialectNamed } from "./load-definition.ts";
import { ProblemList } from "./problem-list.ts";
import type { Range } from "./source/source-text.ts";
import type { YamlNode } from "./source/yaml-node.ts";
import { readYaml } from "./source/yaml-source.ts";

/** Problems for what a definition wants and was not granted, each at its step or its key. */
export function reportLacks(
  graph: Graph,
  grant: Grant,
  { text, file }: { readonly text: string; readonly file?: string | undefined },
): readonly Problem[] {
  const lacks = checkGrant(graph, grant);
  if (lacks.length === 0) return [];
  // Its own mistakes have been reported.
  const reading = new ProblemList({ text, ...(file === undefined ? {} : { file }) });
  const root = readYaml(reading);
  return lacks.map((lack): Problem => {
    const { capability, name, message, place } = lack;
    const remedy = remedyFor(capability, name);
    const common = { code: "NOT_GRANTED", severity: "error", message, remedy } as const;
    if (place !== undefined) return { ...common, place: { ...(file === undefined ? {} : { file }), ...place } };
    const at = root === undefined ? undefined : findKey(root, graph, lack);
    return { ...common, place: reading.source.place(at ?? { start: 0, end: 1 }) };
  });
}

/** The first key that can want it, and whose value names it where it has a name. */
function findKey(node: YamlNode, { dialect }: Pick<Graph, "dialect">, lack: Lack): Range | undefined {
  const reach = new Map(Object.entries(dialectNamed(dialect)?.reach ?? {}));
  const inside: YamlNode[] = [node];
  for (let next = inside.pop(); next !== undefined; next = inside.pop()) {
    if (next.kind === "list") inside.push(...[...next.items].reverse());
    if (next.kind !== "map") continue;
    for (const [key, { key: at, value }] of next.entries)
      if (reach.get(key)?.includes(lack.capability) === true && names(value, lack.name)) return at;
    inside.push(...[...next.entries.values()].map(({ value }) => value).reverse());
  }
  return undefined;
}

function names(node: YamlNode, name: string | undefined): boolean {
  if (name === undefined) return true;
  if (node.kind === "scalar") return node.written.includes(name);
  const inner = node.kind === "list" ? node.items : [...node.entries.values()].map(({ value }) => value);
  return inner.some((each) => names(each, name));
}
