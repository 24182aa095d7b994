import type { ExecutedState } from "./run-workflow-response.ts";

/** The variables after every state, all of them again: of a long run with full screens that would be hundreds of megabytes. */
const MAX_CHARS = 4 * 1024 * 1024;
const LONGEST_VALUE = 200;

/** The log as it is, or, where it would be too long, with long values of variables cut short. */
export function shortenVariables(log: readonly ExecutedState[]): readonly ExecutedState[] {
  let chars = 0;
  for (const { variables_after } of log) {
    for (const value of Object.values(variables_after)) chars += value.length;
  }
  if (chars <= MAX_CHARS) return log;
  return log.map((state) => ({ ...state, variables_after: shorten(state.variables_after) }));
}

function shorten(variables: ExecutedState["variables_after"]): ExecutedState["variables_after"] {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, cut(value)]));
}

function cut(value: string): string {
  return value.length <= LONGEST_VALUE ? value : `${value.slice(0, LONGEST_VALUE)}… (${value.length} characters)`;
}
