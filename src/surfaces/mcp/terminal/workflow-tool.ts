import type { JsonObject } from "../../../core/json.ts";
import type { OfferedTool } from "../../../ports/tool-set.ts";
import { nullable } from "../nullable.ts";
import { WORKFLOW_LESSON } from "./workflow-lesson.ts";

const text: JsonObject = { type: "string" };
const textOrNull = nullable(text);
const flag: JsonObject = { type: "boolean" };
const texts: JsonObject = { type: "object", additionalProperties: text };

const state: JsonObject = {
  type: "object",
  properties: {
    action: {
      type: "object",
      properties: {
        tool: {
          enum: [
            "open_terminal",
            "send_input",
            "await_output",
            "get_screen_content",
            "list_terminal_sessions",
            "exit_terminal",
            "run_workflow",
          ],
        },
        params: { type: "object" },
      },
      required: ["tool", "params"],
    },
    transitions: {
      type: "array",
      maxItems: 20,
      items: {
        type: "object",
        properties: { condition: { type: "object", minProperties: 1 }, next_state: text },
        required: ["condition", "next_state"],
      },
    },
    timeout: { type: "number", minimum: 0.1, maximum: 300 },
    on_timeout: text,
  },
  required: ["action"],
};

export const WORKFLOW_TOOL: OfferedTool = {
  name: "run_workflow",
  title: "Run a workflow",
  description: `Runs a workflow over terminals in one call: commands, waiting, branches, loops and other workflows, without a turn of yours in
between. Give \`workflow_definition\`, or \`workflow_name\` of a saved one. A definition that succeeds is saved and can then be run by
its name. Each state that has ended stays ended whatever crashes; \`run_id\` names the record of the run.

The answer comes at the end, or after \`wait_seconds\` with the status the run has then. \`success\` false says why in \`error\`, and
\`execution_log\` shows each state with its parameters and result. Sessions stay open after a success, unless the workflow
closes them or \`keep_sessions\` is false; after a failure they are closed.

${WORKFLOW_LESSON}`,
  inputSchema: {
    type: "object",
    properties: {
      workflow_definition: nullable({
        type: "object",
        description: "The whole definition. Exactly one of this and `workflow_name`.",
        properties: {
          name: { ...text, maxLength: 64 },
          description: { ...text, maxLength: 500 },
          initial_state: text,
          states: { type: "object", minProperties: 1, maxProperties: 100, additionalProperties: state },
        },
        required: ["name", "initial_state", "states"],
        default: null,
      }),
      workflow_name: { ...textOrNull, default: null, description: "Of a saved or registered workflow." },
      initial_variables: { ...texts, default: {}, description: "Variables that it begins with." },
      max_states: {
        type: "integer",
        minimum: 1,
        maximum: 1_000,
        default: 100,
        description: "A run that would need more fails: it is probably a loop without an end.",
      },
      execution_timeout: {
        type: "number",
        minimum: 1,
        maximum: 7_200,
        default: 1_800,
        description: "Seconds for all of it.",
      },
      save_on_success: { ...flag, default: true, description: "Whether a definition that succeeds is saved." },
      keep_sessions: { ...flag, default: true, description: "False: close its sessions after a success too." },
      wait_seconds: nullable({
        type: "number",
        minimum: 0,
        maximum: 7_200,
        default: null,
        description: "Answer after so many seconds although it goes on. Absent: wait for its end.",
      }),
    },
  },
  outputSchema: {
    type: "object",
    properties: {
      success: flag,
      final_state: text,
      states_executed: { type: "integer" },
      total_elapsed_time: { type: "number", description: "Seconds." },
      execution_log: {
        type: "array",
        items: {
          type: "object",
          properties: {
            state: text,
            tool: text,
            params: { type: "object" },
            result: { type: "object" },
            variables_after: texts,
            elapsed_time: { type: "number" },
            timestamp: text,
          },
          required: ["state", "tool", "params", "result", "elapsed_time", "timestamp"],
        },
      },
      final_variables: texts,
      session_id: textOrNull,
      workflow_saved: flag,
      saved_workflow_name: textOrNull,
      available_workflows: { type: "array", items: text },
      recursion_depth: { type: "integer" },
      error: textOrNull,
      run_id: { ...textOrNull, description: "Its record is the resource `run://RUN_ID`." },
      status: { ...text, description: "Of the run: running, waiting, completed, partial, failed, cancelled ..." },
    },
    required: [
      "success",
      "final_state",
      "states_executed",
      "total_elapsed_time",
      "execution_log",
      "final_variables",
      "session_id",
      "workflow_saved",
      "saved_workflow_name",
      "available_workflows",
      "recursion_depth",
      "error",
      "run_id",
      "status",
    ],
  },
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
};
