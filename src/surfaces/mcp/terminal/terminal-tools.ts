import { writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { runTerminalWorkflow, type WorkflowProgress } from "../../../operations/terminals/run-terminal-workflow.ts";
import { RUN_WORKFLOW, readRunWorkflowRequest } from "../../../operations/terminals/run-workflow-tool.ts";
import type { PerformedCall } from "../add-tools.ts";
import type { CallProgress } from "../progress-teller.ts";
import { SESSION_TOOLS } from "./session-tools.ts";
import type { PerformingParts, TerminalTool } from "./terminal-tool.ts";

/** The tools over terminals and workflows, in the order in which they are listed. */
export const TOOLS: readonly TerminalTool[] = [...SESSION_TOOLS, { offered: RUN_WORKFLOW, perform: runWorkflow }];

async function runWorkflow(parts: PerformingParts, args: JsonObject, call: PerformedCall): Promise<JsonObject> {
  const request = readRunWorkflowRequest(args);
  const { maxStates: total } = request;
  let latest: CallProgress = { done: 0, total, message: "The workflow begins" };
  const tell = call.follow(() => latest);
  const progress = ({ states, state }: WorkflowProgress) => {
    latest = { done: states - 1, total, message: `State ${states} of at most ${total}: ${state}` };
    tell();
  };
  return fitAnswer(await runTerminalWorkflow(parts, request, { signal: call.signal, progress }));
}

/** Clients over stdio take messages of 10 MB, and an answer is in it twice, once as an escaped text. */
const MAX_CHARACTERS = 2_000_000;

/** An answer of `run_workflow` that clients take: where the log is too long, the record of the run still has all of it. */
export function fitAnswer(answer: JsonObject): JsonObject {
  if (fits(answer)) return answer;
  const log = Array.isArray(answer["execution_log"]) ? answer["execution_log"] : [];
  const note = `The log is shortened: the resource run://${String(answer["run_id"])} has all of it.`;
  const shorter = { ...answer, execution_log: log.map(withoutVariables), execution_log_note: note };
  if (fits(shorter)) return shorter;
  const bare = { ...answer, execution_log: log.slice(-1).map(withoutResult), execution_log_note: note };
  return fits(bare) ? bare : { ...bare, final_variables: {} };
}

function fits(answer: JsonObject): boolean {
  return writeExact(answer).length <= MAX_CHARACTERS;
}

function withoutVariables(state: Json): Json {
  return isJsonObject(state) ? { ...state, variables_after: {} } : state;
}

function withoutResult(state: Json): Json {
  return isJsonObject(state) ? { ...state, variables_after: {}, params: {}, result: {} } : state;
}
