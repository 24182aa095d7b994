import { factsOfTerminalTool, type ToolFacts } from "../work/tool-params.ts";
import type { ToolName } from "./workflow-shape.ts";

const CALL: ToolFacts = {
  required: [],
  optional: [
    "workflow_definition",
    "workflow_name",
    "initial_variables",
    "max_states",
    "execution_timeout",
    "save_on_success",
    "keep_sessions",
    "wait_seconds",
  ],
  fields: [
    "success",
    "final_state",
    "states_executed",
    "total_elapsed_time",
    "session_id",
    "workflow_saved",
    "recursion_depth",
    "output",
    "error",
  ],
};

/** Fields that any result may have if the state has failed. */
const FIELDS_OF_FAILURES = ["timeout_occurred", "error_code"];

export function factsOf(tool: ToolName): ToolFacts {
  return tool === "run_workflow" ? CALL : factsOfTerminalTool(tool);
}

export function mayHaveField(tool: ToolName, field: string): boolean {
  return factsOf(tool).fields.includes(field) || FIELDS_OF_FAILURES.includes(field);
}

/** Standard variables, and the field of a tool's result that each is taken from. */
export const STANDARD_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["success", "success"],
  ["session_id", "session_id"],
  ["match_text", "match_text"],
  ["screen_content", "screen_content"],
  ["error", "error"],
  ["timestamp", "timestamp"],
  ["elapsed_time", "elapsed_time"],
  ["shell", "shell"],
  ["web_url", "web_url"],
  ["process_running", "process_running"],
  ["total_sessions", "total_sessions"],
  ["message", "message"],
  ["workflow_final_state", "final_state"],
  ["workflow_saved", "workflow_saved"],
  ["saved_workflow_name", "saved_workflow_name"],
]);
