import { type Dialect, keys, type Reach, words } from "../dialect.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import type { State, TerminalWorkflow } from "./workflow-shape.ts";

const reach: Reach<TerminalWorkflow | State> = {
  ...words("$schema", "name", "description", "initial_state", "transitions", "timeout", "on_timeout"),
  ...keys(["dialects"], "dialect"),
  ...keys(["terminals", "executors"], "states"),
  ...keys(["terminals", "executors", "variables", "workflows"], "action"),
};

export const terminal: Dialect = {
  name: "terminal",
  looksLike: "`initial_state`, and `states`",
  hasShape: (root) => root.kind === "map" && root.entries.has("initial_state"),
  async compile(...text) {
    const { compileTerminal } = await import("./compile.ts");
    return compileTerminal(...text);
  },
  reach,
};

/** The definition in a file of the library, `{definition, metadata}`; any other text as it is. */
export function unwrapSaved(root: YamlMap): YamlMap {
  const definition = root.entries.get("definition")?.value;
  return definition?.kind === "map" && root.entries.has("metadata") ? definition : root;
}
