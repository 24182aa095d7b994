import type { YamlEntry, YamlMap, YamlNode } from "../source/yaml-node.ts";

/**
 * Moves what stands under the `target` of control steps up to the step, which is the one form that the rest of the
 * loader knows. What the step itself says wins. Every part keeps its place in the text.
 */
export function hoistTargets(root: YamlMap): YamlMap {
  return withReplaced(root, { steps: hoistSteps });
}

type Replace = (node: YamlNode) => YamlNode;

function hoistSteps(node: YamlNode): YamlNode {
  return node.kind === "map" ? withEach(node, hoistStep) : node;
}

function hoistStep(node: YamlNode): YamlNode {
  if (node.kind !== "map" || !isControl(node)) return node;
  return withReplaced(hoistTarget(node), {
    body: hoistBlock,
    catch: hoistBlock,
    finally: hoistBlock,
    branches: (branches) => (branches.kind === "map" ? withEach(branches, hoistBlock) : branches),
    routes: (routes) => (routes.kind === "map" ? withEach(routes, hoistRoute) : routes),
  });
}

function hoistBlock(node: YamlNode): YamlNode {
  if (node.kind !== "map") return node;
  return node.entries.has("type") ? hoistStep(node) : withReplaced(node, { steps: hoistSteps });
}

function hoistRoute(node: YamlNode): YamlNode {
  return node.kind === "map" ? withReplaced(node, { body: hoistBlock }) : node;
}

function isControl({ entries }: YamlMap): boolean {
  const type = entries.get("type")?.value;
  return type?.kind === "scalar" && type.value === "control";
}

function hoistTarget(step: YamlMap): YamlMap {
  const target = step.entries.get("target");
  if (target === undefined) return step;
  const { value } = target;
  if (value.kind === "list") return step;
  const own = [...step.entries].filter(([key]) => key !== "target");
  const moved: readonly [string, YamlEntry][] = value.kind === "map" ? [...value.entries] : [["subtype", target]];
  return { ...step, entries: new Map([...moved, ...own]) };
}

function withReplaced(map: YamlMap, replacements: { readonly [key: string]: Replace }): YamlMap {
  const entries = new Map(map.entries);
  for (const [key, replace] of Object.entries(replacements)) {
    const entry = entries.get(key);
    if (entry !== undefined) entries.set(key, { ...entry, value: replace(entry.value) });
  }
  return { ...map, entries };
}

function withEach(map: YamlMap, replace: Replace): YamlMap {
  const replaced = ([key, entry]: [string, YamlEntry]): [string, YamlEntry] => [
    key,
    { ...entry, value: replace(entry.value) },
  ];
  return { ...map, entries: new Map([...map.entries].map(replaced)) };
}
