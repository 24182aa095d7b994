import { type Dialect, keys, type Reach, words } from "../dialect.ts";
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
