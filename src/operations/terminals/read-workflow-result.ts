import { toText } from "../../core/expressions/to-text.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import type { CallReport, Failure, Handle, Scope } from "../../core/history/run-state.ts";
import { resultOf } from "../../core/interpreter/flow/end-scope.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { EXECUTION_TIMED_OUT, executionTimedOut, stateTimedOut, TOO_DEEP } from "../../dialects/terminal/messages.ts";
import { variablesFrom } from "../../dialects/terminal/result-variables.ts";
import type { RunRecord } from "../../ports/journal.ts";
import {
  type RunReading,
  type RunSources,
  readHandles,
  readRunHistory,
} from "../runs/describe/describe-run-reading.ts";
import type { StepHistory } from "../runs/describe/step-history.ts";
import type { ExecutedState, WorkflowResult } from "./run-workflow-tool.ts";

/** How a terminal workflow's run went, from its record: complete once it has ended. Secrets are masked there already. */
export async function readWorkflowResult(sources: RunSources, record: RunRecord): Promise<WorkflowResult> {
  const reading = await readRunHistory(sources, record);
  const { root, ending } = reading.history.state;
  if (root === undefined) throw new Error(`The run ${record.id} has no events.`);
  const { startedAt = record.createdAt, completedAt = reading.history.state.now } = record;
  const load = await readHandles(reading, handlesOf(reading));
  const success = ending?.status === "completed" || ending?.status === "partial";
  return new ResultReader(reading, load).read(root, {
    success,
    error: success || ending === undefined ? null : explainEnd(ending, root),
    elapsedMs: completedAt - startedAt,
  });
}

/** Everything that the log shows, at once: the answer holds all of it anyway. */
function* handlesOf({ history }: RunReading): Generator<Handle> {
  for (const { inputSeq, life } of history.steps.values()) {
    yield inputSeq;
    if (life.is === "ended") yield life.handle;
  }
  for (const { frame } of history.scopes.keys()) yield frame.inputHandle;
  const { root } = history.state;
  if (root === undefined) return;
  yield root.frame.inputHandle;
  if (root.flow.flow.kind === "dag") yield resultOf(root);
}

interface End {
  readonly success: boolean;
  readonly error: string | null;
  readonly elapsedMs: number;
}

class ResultReader {
  readonly #reading: RunReading;
  readonly #load: (handle: Handle) => Json;
  /** Passes through the workflows that were called, by the path of the call. */
  readonly #called = new Map<string, Scope>();

  constructor(reading: RunReading, load: (handle: Handle) => Json) {
    this.#reading = reading;
    this.#load = load;
    for (const scope of reading.history.scopes.keys()) {
      if (scope.parent !== undefined) this.#called.set(scope.parent.path, scope);
    }
  }

  read(scope: Scope, { success, error, elapsedMs }: End): WorkflowResult {
    const isMachine = traitsOf(scope.frame.graph.graph).isTerminal;
    const initial = this.#load(scope.frame.inputHandle);
    const variables = new Map(Object.entries(isJsonObject(initial) ? initial : {}).map(toVariable));
    const log = isMachine ? this.#readLog(scope, variables) : [];
    const final_variables = Object.fromEntries(variables);
    return {
      success,
      final_state: log.at(-1)?.state ?? (success ? "completed" : "error"),
      states_executed: log.length,
      total_elapsed_time: elapsedMs / 1_000,
      execution_log: shortenVariables(log),
      final_variables,
      session_id: variables.get("session_id") ?? null,
      workflow_saved: false,
      saved_workflow_name: null,
      available_workflows: [],
      recursion_depth: scope.frame.deepest - scope.frame.depth,
      error,
      ...(isMachine || !success ? {} : { output: this.#load(resultOf(scope)) }),
    };
  }

  #readLog(scope: Scope, variables: Map<string, string>): ExecutedState[] {
    const log: ExecutedState[] = [];
    for (const visit of this.#reading.history.scopes.get(scope) ?? []) {
      const state = this.#readState(visit);
      if (state === undefined) continue;
      for (const [name, value] of variablesFrom(state.state, state.result)) variables.set(name, value);
      log.push({ ...state, variables_after: Object.fromEntries(variables) });
    }
    return log;
  }

  /** Undefined: it was cut off before it had a result. */
  #readState(visit: StepHistory): Omit<ExecutedState, "variables_after"> | undefined {
    const { life, step, startedAt, beganAt } = visit;
    if (life.is !== "ended" || life.status === "cancelled" || life.status === "skipped") return undefined;
    const { handle } = life;
    const isReport = typeof handle === "object" && handle.kind === "report";
    const { tool, params } = isReport ? this.#readCall(visit) : this.#readTask(visit);
    return {
      state: step.step.id,
      tool,
      params,
      result: isReport ? this.#resultOfCall(visit, handle.report) : this.#resultOfTask(visit, handle),
      elapsed_time: (life.at - (startedAt ?? beganAt)) / 1_000,
      timestamp: toIsoTime(life.at),
    };
  }

  #readTask({ inputSeq }: StepHistory): { readonly tool: string; readonly params: JsonObject } {
    const { tool, params } = asObject(this.#load(inputSeq));
    return { tool: typeof tool === "string" ? tool : "", params: asObject(params) };
  }

  #readCall({ path, step: { step } }: StepHistory): { readonly tool: string; readonly params: JsonObject } {
    const tool = "run_workflow";
    const called = this.#called.get(path);
    const written = step.kind === "call" && step.workflow.op === "literal" ? step.workflow.value : null;
    const name = called?.frame.graph.graph.name ?? (typeof written === "string" ? written : null);
    const source: JsonObject = isJsonObject(written) ? { workflow_definition: written } : { workflow_name: name };
    if (called === undefined) return { tool, params: source };
    return { tool, params: { ...source, initial_variables: asObject(this.#load(called.frame.inputHandle)) } };
  }

  #resultOfTask({ step: { step } }: StepHistory, handle: Handle): JsonObject {
    if (typeof handle !== "object" || handle.kind !== "failure") return asObject(this.#load(handle));
    const { failure } = handle;
    if (failure.code !== "TIMEOUT") return { success: false, error: failure.message, error_code: failure.code };
    const error = stateTimedOut(step.id, (step.timeoutMs ?? 0) / 1_000);
    return { success: false, error, error_code: failure.code, timeout_occurred: true };
  }

  #resultOfCall({ path, step: { step } }: StepHistory, report: CallReport): JsonObject {
    const { failure, elapsedMs } = report;
    const scope = this.#called.get(path);
    const error = failure === undefined ? null : explainCall(failure, report, step);
    const end = { success: failure === undefined, error, elapsedMs };
    if (scope === undefined)
      return { success: false, final_state: "error", states_executed: 0, recursion_depth: 0, error };
    return this.read(scope, end);
  }
}

function toVariable([name, value]: [string, Json]): [string, string] {
  return [name, toText(value)];
}

function explainEnd({ code, message }: { readonly code?: string; readonly message?: string }, root: Scope): string {
  const { limits } = root.frame.graph.graph;
  if (code === "RUN_TIMEOUT" && limits.timeoutMs !== undefined) return executionTimedOut(limits.timeoutMs / 1_000);
  if (code === "TIMEOUT") {
    const last = root.visited === undefined ? undefined : root.flow.steps[root.visited]?.step;
    if (last?.timeoutMs !== undefined) return stateTimedOut(last.id, last.timeoutMs / 1_000);
  }
  return message ?? code ?? "The run has failed.";
}

function explainCall(
  failure: Failure,
  { hasTimedOut, timeoutMs }: CallReport,
  step: StepHistory["step"]["step"],
): string {
  const { code, message } = failure;
  if (code === "MAX_DEPTH") return `${TOO_DEEP}. ${message}`;
  if (!hasTimedOut) return message;
  return code === "RUN_TIMEOUT"
    ? `${EXECUTION_TIMED_OUT.before}${(timeoutMs ?? 0) / 1_000}${EXECUTION_TIMED_OUT.after}`
    : stateTimedOut(step.id, (step.timeoutMs ?? 0) / 1_000);
}

/** The variables after every state, all of them again: of a long run with full screens that would be hundreds of megabytes. */
const MAX_CHARS = 4 * 1024 * 1024;
const LONGEST_VALUE = 200;

/** The log as it is, or, where it would be too long, with long values of variables cut short. */
function shortenVariables(log: ExecutedState[]): ExecutedState[] {
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
