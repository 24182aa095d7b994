import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { DEFAULT_EXECUTION_TIMEOUT_SECONDS, DEFAULT_MAX_STATES, withMaxStates } from "../../dialects/terminal/lower.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { readToolInput } from "../../ports/tools/defined-tool.ts";

/** How far a terminal workflow may go, as `run_workflow` asks for it. */
export interface WorkflowLimits {
  readonly maxStates: number;
  readonly executionTimeoutSeconds: number;
}

const STATES = "must be a whole number from 1 to 1000.";
const SECONDS = "must be a number from 1 to 7200.";

/** The limits as `run_workflow` names them. */
export const WORKFLOW_LIMITS = z.object({
  max_states: z.int(STATES).min(1, STATES).max(1_000, STATES).optional().meta({
    default: DEFAULT_MAX_STATES,
    description: "A run that needs more fails.",
  }),
  execution_timeout: z
    .number(SECONDS)
    .min(1, SECONDS)
    .max(7_200, SECONDS)
    .optional()
    .meta({ default: DEFAULT_EXECUTION_TIMEOUT_SECONDS, description: "Seconds for all of it." }),
});

/** Throws `INPUT_INVALID`. Numbers that variables have made are texts. */
export function readWorkflowLimits(given: Json | undefined): WorkflowLimits {
  const read = readToolInput(WORKFLOW_LIMITS, isJsonObject(given) ? given : {});
  if ("problem" in read) throw new PawlError("INPUT_INVALID", { message: read.problem, remedy: "Correct the value." });
  return toWorkflowLimits(read.input);
}

export function toWorkflowLimits(read: z.output<typeof WORKFLOW_LIMITS>): WorkflowLimits {
  return {
    maxStates: read.max_states ?? DEFAULT_MAX_STATES,
    executionTimeoutSeconds: read.execution_timeout ?? DEFAULT_EXECUTION_TIMEOUT_SECONDS,
  };
}

/** The definition with the limits that a run's options name; the graph with them is what the run pins. */
export function withWorkflowLimits(definition: CompiledDefinition, options: JsonObject): CompiledDefinition {
  if (options["max_states"] === undefined && options["execution_timeout"] === undefined) return definition;
  const { maxStates, executionTimeoutSeconds } = readWorkflowLimits(options);
  const graph = withMaxStates(definition.graph, maxStates);
  const askedMs = Math.round(executionTimeoutSeconds * 1_000);
  // A workflow of another dialect may say itself that it takes less.
  const ownMs = traitsOf(graph).isTerminal ? undefined : graph.limits.timeoutMs;
  const limits = { ...graph.limits, timeoutMs: Math.min(askedMs, ownMs ?? askedMs) };
  return { ...definition, graph: { ...graph, limits } };
}
