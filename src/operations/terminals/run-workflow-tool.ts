import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { SOURCE_MISSING, SOURCE_TWICE } from "../../dialects/terminal/messages.ts";
import { defineTool, readToolInput } from "../../ports/tools/defined-tool.ts";
import { idempotencyKey } from "../schemas.ts";
import { toWorkflowLimits, WORKFLOW_LIMITS, type WorkflowLimits } from "../start/workflow-limits.ts";
import { WORKFLOW_LESSON } from "./workflow-lesson.ts";

const texts = z.record(z.string(), z.string());
const anyObject = z.custom<JsonObject>(isJsonObject, "must be a map.").meta({ type: "object" });
const flag = z.boolean("must be true or false.").optional();
/** Clients give up on a call after 30 s or more. */
export const WAIT_SECONDS = 25;
const WAIT = "must be a number from 0 to 7200.";

const executedState = z.object({
  state: z.string(),
  tool: z.string(),
  params: anyObject.describe("With variables put in."),
  result: anyObject,
  variables_after: texts,
  elapsed_time: z.number().describe("Seconds."),
  timestamp: z.string().describe("When the state ended: ISO 8601 in UTC."),
});
export type ExecutedState = z.infer<typeof executedState>;

/** How a workflow went, the one that was asked for or one that it called. */
const workflowResult = z.object({
  success: z.boolean(),
  final_state: z.string().describe("Where it stood at the end; `error` where it never began."),
  states_executed: z.number().meta({ type: "integer" }),
  total_elapsed_time: z.number().describe("Seconds."),
  execution_log: z.array(executedState),
  final_variables: texts,
  session_id: z.string().nullable(),
  workflow_saved: z.boolean(),
  saved_workflow_name: z.string().nullable(),
  available_workflows: z.array(z.string()),
  recursion_depth: z.number().meta({ type: "integer", description: "How deeply workflows were called inside it." }),
  error: z.string().nullable(),
  output: z
    .custom<Json>(() => true)
    .optional()
    .describe("What a workflow of another dialect gave."),
});
export type WorkflowResult = z.infer<typeof workflowResult>;

const runWorkflowResponse = workflowResult.extend({
  success: z.boolean().nullable().describe("null: it goes on."),
  final_state: z.string().nullable().describe("The state that ended last."),
  next: z.string().optional().describe("How to go on where the run does."),
  run_id: z.string().nullable().describe("Its record is the resource `run://RUN_ID`."),
  status: z.string().describe("Of the run: running, waiting, completed, partial, failed, cancelled ..."),
});
export type RunWorkflowResponse = z.infer<typeof runWorkflowResponse>;

export const RUN_WORKFLOW = defineTool({
  name: "run_workflow",
  title: "Run a workflow",
  description: `Runs a workflow over terminals in one call. Give \`workflow_definition\`, or
\`workflow_name\` of a saved one; a definition that succeeds is saved by its name. After \`wait_seconds\` it
goes on, and \`next\` says how to collect it. \`execution_log\` has what was new in each state.

${WORKFLOW_LESSON}`,
  input: z.object({
    workflow_definition: anyObject.nullish().meta({ default: null, description: "This or `workflow_name`." }),
    workflow_name: z.string("must be a text.").nullish().meta({ default: null, description: "Of a saved one." }),
    initial_variables: anyObject.optional().meta({
      additionalProperties: { type: "string" },
      default: {},
      description: "What it begins with.",
    }),
    run_id: z.string("must be a text.").nullish().meta({
      default: null,
      description: "Waits for it.",
    }),
    cancel: flag.meta({ default: false, description: "With `run_id`: ends that run." }),
    ...WORKFLOW_LIMITS.shape,
    save_on_success: flag.meta({ default: true, description: "Keeps a definition." }),
    keep_sessions: flag.meta({ default: true, description: "After a success." }),
    idempotency_key: idempotencyKey.nullish().meta({
      default: null,
      description: "Same key, same run.",
    }),
    wait_seconds: z.number(WAIT).min(0, WAIT).max(7_200, WAIT).nullish().meta({
      default: WAIT_SECONDS,
      description: "Then it answers.",
    }),
  }),
  output: runWorkflowResponse,
  hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
});

export interface RunWorkflowRequest extends WorkflowLimits {
  readonly source:
    | { readonly definition: JsonObject }
    | { readonly name: string }
    | { readonly runId: string; readonly cancel: boolean };
  readonly initialVariables: JsonObject;
  readonly saveOnSuccess: boolean;
  /** False: its terminal sessions are closed though it has succeeded. */
  readonly keepSessions: boolean;
  /** How long to wait for its end; undefined: until it has come. */
  readonly waitSeconds: number | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Reads a request as it came. Unknown fields are ignored. Throws `REQUEST_INVALID`. */
export function readRunWorkflowRequest(given: JsonObject): RunWorkflowRequest {
  const read = readToolInput(RUN_WORKFLOW.input, given);
  if ("problem" in read) throw invalid(read.problem);
  const { workflow_definition: definition = null, workflow_name: name = null, run_id: runId, ...input } = read.input;
  const initialVariables = input.initial_variables ?? {};
  for (const [variable, value] of Object.entries(initialVariables)) {
    if (typeof value !== "string") throw invalid(`\`initial_variables.${variable}\` must be a text.`);
  }
  return {
    source: runId ? { runId, cancel: input.cancel === true } : toSource(definition, name),
    initialVariables,
    ...toWorkflowLimits(input),
    saveOnSuccess: input.save_on_success ?? true,
    keepSessions: input.keep_sessions ?? true,
    waitSeconds: input.wait_seconds ?? undefined,
    idempotencyKey: input.idempotency_key ?? undefined,
  };
}

function toSource(definition: JsonObject | null, name: string | null): RunWorkflowRequest["source"] {
  if (definition !== null && name !== null) throw invalid(SOURCE_TWICE);
  if (definition !== null) return { definition };
  if (name !== null) return { name };
  throw invalid(SOURCE_MISSING);
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message, remedy: "Correct the request." });
}

/** The answer for a workflow that never began. */
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
    available_workflows: [...available],
    recursion_depth: 0,
    error,
    run_id: null,
    status: "failed",
  };
}
