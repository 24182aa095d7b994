import type { Json, JsonObject } from "../../core/json.ts";

/** The answer of `run_workflow`, field by field as the requirement names them. */
export interface RunWorkflowResponse extends WorkflowResult {
  readonly run_id: string | null;
  /** That of the run; `failed` where it never began. */
  readonly status: string;
}

/** How a workflow went, the one that was asked for or one that it called. */
export interface WorkflowResult {
  readonly success: boolean;
  /** Where it stood at the end; `error` where it never began. */
  readonly final_state: string;
  readonly states_executed: number;
  /** Seconds. */
  readonly total_elapsed_time: number;
  readonly execution_log: readonly ExecutedState[];
  readonly final_variables: { readonly [name: string]: string };
  readonly session_id: string | null;
  readonly workflow_saved: boolean;
  readonly saved_workflow_name: string | null;
  readonly available_workflows: readonly string[];
  /** How deeply workflows were called inside it. */
  readonly recursion_depth: number;
  readonly error: string | null;
  /** Of a workflow of another dialect: what it gave. */
  readonly output?: Json;
}

export interface ExecutedState {
  readonly state: string;
  readonly tool: string;
  /** With variables put in. */
  readonly params: JsonObject;
  readonly result: JsonObject;
  readonly variables_after: { readonly [name: string]: string };
  /** Seconds. */
  readonly elapsed_time: number;
  /** When it ended: ISO 8601 in UTC. */
  readonly timestamp: string;
}

/** Of a workflow that never began. */
export function failedResponse(error: string, available: readonly string[]): RunWorkflowResponse {
  return {
    success: false,
    final_state: "error",
    states_executed: 0,
    total_elapsed_time: 0,
    execution_log: [],
    final_variables: {},
    session_id: null,
    workflow_saved: false,
    saved_workflow_name: null,
    available_workflows: available,
    recursion_depth: 0,
    error,
    run_id: null,
    status: "failed",
  };
}
