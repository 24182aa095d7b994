import { toText } from "../../../core/expressions/to-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { ExecutedState, WorkflowResult } from "../../../operations/terminals/run-workflow-tool.ts";

/** What an earlier state, the parameters or the state's own time say already. `message` repeats the input. */
const SAID_ELSEWHERE = new Set(["timestamp", "elapsed_time", "message"]);

/**
 * How a workflow went, for a model: each state with what is new in it. A field of a result or a variable that is as it was before
 * is left out, and so are the rows of a screen that stood there already. The record of the run has all.
 */
export function tellWorkflow<Answer extends Pick<WorkflowResult, "execution_log" | "final_variables">>(answer: Answer) {
  const { execution_log: log, final_variables: all } = answer;
  const inLog = new Set(log.flatMap(({ state, result }) => Object.keys(result).map((field) => `${state}_${field}`)));
  const variables = Object.entries(all).filter(([name]) => !inLog.has(name));
  return { ...answer, execution_log: tellChanges(log), final_variables: Object.fromEntries(variables) };
}

function tellChanges(log: readonly ExecutedState[]): JsonObject[] {
  const known = new Map<string, Json>();
  let variables: ExecutedState["variables_after"] = {};
  let screen = "";
  return log.map(({ state, tool, params, result, variables_after, elapsed_time }) => {
    const { session_id: session = null, ...others } = params;
    const given = { ...omitKnown({ session_id: session }, known), ...others };
    const { screen_content: shown, execution_log: inner, success, ...fields } = result;
    const rows = typeof shown === "string" ? newRows(screen, shown) : "";
    const told: JsonObject = {
      ...(success === undefined ? {} : { success }),
      ...omitKnown(fields, known),
      ...(rows === "" ? {} : { screen_content: rows }),
      ...(Array.isArray(inner) ? { execution_log: tellChanges(inner.filter(isExecuted)) } : {}),
    };
    if (typeof shown === "string") screen = shown;
    const inResult = new Set(Object.values(result).map((value) => toText(value)));
    const before = variables;
    const changed = Object.keys(variables_after).flatMap((name): [string, string][] => {
      const value = variables_after[name] ?? "";
      return before[name] === value || inResult.has(value) ? [] : [[name, value]];
    });
    variables = variables_after;
    const entry = { state, tool, params: given, result: told, elapsed_time };
    return changed.length === 0 ? entry : { ...entry, variables_after: Object.fromEntries(changed) };
  });
}

function omitKnown(fields: JsonObject, known: Map<string, Json>): JsonObject {
  const told = Object.entries(fields).filter(([name, value]) => {
    if (SAID_ELSEWHERE.has(name) || known.get(name) === value) return false;
    const isFirstNull = value === null && !known.has(name);
    known.set(name, value);
    return !isFirstNull;
  });
  return Object.fromEntries(told);
}

function isExecuted(state: Json): state is Json & ExecutedState {
  return isJsonObject(state) && isJsonObject(state["result"]) && isJsonObject(state["variables_after"]);
}

/** The rows of a screen below those that the one before had already, wherever they have moved to. Its last row is still written. */
function newRows(before: string, now: string): string {
  const old = before.split("\n");
  const last = old.pop();
  const rows = now.split("\n");
  for (let gone = 0; gone < old.length; gone += 1) {
    const kept = old.slice(gone);
    if (!kept.every((row, index) => rows[index] === row)) continue;
    const fresh = rows.slice(kept.length).join("\n");
    return fresh === last ? "" : fresh;
  }
  return before === now ? "" : now;
}
