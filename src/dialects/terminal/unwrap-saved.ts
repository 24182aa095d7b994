import type { YamlMap } from "../source/yaml-node.ts";

/** The definition in a file of the library, `{definition, metadata}`; any other text as it is. */
export function unwrapSaved(root: YamlMap): YamlMap {
  const definition = root.entries.get("definition")?.value;
  return definition?.kind === "map" && root.entries.has("metadata") ? definition : root;
}
