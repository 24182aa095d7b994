import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { DEFAULT_EXECUTION_TIMEOUT_SECONDS, DEFAULT_MAX_STATES, withMaxStates } from "../../dialects/terminal/lower.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";

/** How far a terminal workflow may go, as `run_workflow` asks for it. */
export interface WorkflowLimits {
  readonly maxStates: number;
  readonly executionTimeoutSeconds: number;
}

/** Throws `INPUT_INVALID`. Numbers that variables have made are texts. */
export function readWorkflowLimits(given: Json | undefined): WorkflowLimits {
  const { max_states: states, execution_timeout: timeout } = isJsonObject(given) ? given : {};
  return {
    maxStates: readNumber("max_states", states, { from: 1, to: 1_000, whole: true }) ?? DEFAULT_MAX_STATES,
    executionTimeoutSeconds:
      readNumber("execution_timeout", timeout, { from: 1, to: 7_200, whole: false }) ??
      DEFAULT_EXECUTION_TIMEOUT_SECONDS,
  };
}

/** The definition with the limits that a run's options name; the graph with them is what the run pins. */
export function withWorkflowLimits(definition: CompiledDefinition, options: JsonObject): CompiledDefinition {
  if (options["max_states"] === undefined && options["execution_timeout"] === undefined) return definition;
  const { maxStates, executionTimeoutSeconds } = readWorkflowLimits(options);
  const graph = withMaxStates(definition.graph, maxStates);
  const askedMs = Math.round(executionTimeoutSeconds * 1_000);
  // A workflow of another dialect may say itself that it takes less.
  const ownMs = graph.dialect === "terminal" ? undefined : graph.limits.timeoutMs;
  const limits = { ...graph.limits, timeoutMs: Math.min(askedMs, ownMs ?? askedMs) };
  return { ...definition, graph: { ...graph, limits } };
}

interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly whole: boolean;
}

/** Undefined: it is not there. Throws `INPUT_INVALID`. */
export function readNumber(name: string, value: Json | undefined, range: NumberRange): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const isInside = typeof number === "number" && number >= range.from && number <= range.to;
  if (isInside && (!range.whole || Number.isInteger(number))) return number;
  const kind = range.whole ? "a whole number" : "a number";
  const message = `\`${name}\` must be ${kind} from ${range.from} to ${range.to}.`;
  throw new PawlError("INPUT_INVALID", { message, remedy: "Correct the value." });
}
