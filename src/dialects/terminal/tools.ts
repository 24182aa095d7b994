import type { ToolName } from "./workflow.ts";

/** What a tool takes and what its result holds: for warnings, and to know which variables a state can set. */
export interface ToolFacts {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly fields: readonly string[];
}

const TOOLS: { readonly [name in ToolName]: ToolFacts } = {
  open_terminal: {
    required: [],
    optional: ["shell", "working_directory", "environment"],
    fields: ["success", "session_id", "shell", "web_url", "screen_content", "timestamp", "error"],
  },
  send_input: {
    required: ["session_id", "input_text"],
    optional: ["keys"],
    fields: [
      "success",
      "session_id",
      "message",
      "screen_content",
      "timestamp",
      "process_running",
      "exit_code",
      "error",
    ],
  },
  await_output: {
    required: ["session_id", "pattern"],
    optional: ["timeout"],
    fields: [
      "success",
      "match_text",
      "screen_content",
      "elapsed_time",
      "timestamp",
      "timed_out",
      "process_running",
      "exit_code",
      "error",
    ],
  },
  get_screen_content: {
    required: ["session_id"],
    optional: ["content_mode", "line_count"],
    fields: [
      "success",
      "session_id",
      "process_running",
      "exit_code",
      "screen_content",
      "truncated",
      "timestamp",
      "error",
    ],
  },
  list_terminal_sessions: { required: [], optional: [], fields: ["success", "sessions", "total_sessions", "error"] },
  exit_terminal: { required: ["session_id"], optional: [], fields: ["success", "session_id", "message", "error"] },
  run_workflow: {
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
  },
};

/** What any result may hold where the state did not go as it should. */
const FIELDS_OF_FAILURES = ["timeout_occurred", "error_code"];

export function factsOf(tool: ToolName): ToolFacts {
  return TOOLS[tool];
}

export function mayHaveField(tool: ToolName, field: string): boolean {
  return TOOLS[tool].fields.includes(field) || FIELDS_OF_FAILURES.includes(field);
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
