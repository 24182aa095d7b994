import type { ExecutorKind, Step } from "../graph/graph.ts";
import type { Capability } from "./grant.ts";

/**
 * What a definition must be granted for what it does. The tables are whole: a new kind of executor or of step, and a new key of a
 * dialect (`reach` in its `dialect.ts`), does not compile without saying what it reaches.
 */
export type Need = Capability | "nothing";

/** Beside `executors`, which holds for every task. Tools and agents are looked at by the servers that they name. */
export const EXECUTOR_NEEDS: Readonly<Record<ExecutorKind, Need>> = {
  agent: "nothing",
  inline: "nothing",
  llm: "nothing",
  mcp: "nothing",
  http: "nothing",
  fail: "nothing",
  code: "code",
  terminal: "terminals",
  csv: "storage",
  report: "storage",
};

export const STEP_NEEDS: Readonly<Record<Step["kind"], Need>> = {
  task: "executors",
  call: "workflows",
  flow: "nothing",
  wait: "nothing",
  approve: "nothing",
  set: "nothing",
  respond: "nothing",
};
