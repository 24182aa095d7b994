import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { Application } from "../../../operations/application/application.ts";
import { type Answer, answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import { describeRun, summarizeRun } from "../../../operations/runs/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { listRuns } from "../../../operations/runs/list-runs.ts";
import { runTerminalWorkflow, type WorkflowProgress } from "../../../operations/terminals/run-terminal-workflow.ts";
import { readRunWorkflowRequest } from "../../../operations/terminals/run-workflow-request.ts";
import type { WorkflowLibrary } from "../../../ports/workflow-library.ts";
import type { PerformedCall } from "../add-tools.ts";
import type { CallProgress } from "../progress-teller.ts";
import { fitAnswer } from "./fit-answer.ts";

export interface PerformingParts {
  readonly app: Application;
  readonly library: WorkflowLibrary;
}

const DEFAULT_WAIT_SECONDS = 10;

/** Does what a listed tool does. Throws `REQUEST_INVALID`, `TERMINAL_REFUSED` and what the operations throw. */
export async function performTool(
  parts: PerformingParts,
  { name, args }: { readonly name: string; readonly args: JsonObject },
  call: PerformedCall,
): Promise<JsonObject> {
  switch (name) {
    case "run_workflow":
      return runWorkflow(parts, args, call);
    case "await_output":
      return awaitOutput(parts, args, call);
    case "get_run":
      return getRun(parts.app, args);
    case "list_runs":
      return toObject(await listRuns(parts.app, readListRequest(args)));
    case "cancel_run":
      return cancelRun(parts.app, args);
    case "respond_to_run":
      return respondToRun(parts.app, args);
    default:
      return toObject(await (await parts.app.host()).callTerminal(name, args, call.signal));
  }
}

async function runWorkflow(parts: PerformingParts, args: JsonObject, call: PerformedCall): Promise<JsonObject> {
  const request = readRunWorkflowRequest(args);
  const { maxStates: total } = request;
  let latest: CallProgress = { done: 0, total, message: "The workflow begins" };
  const tell = call.follow(() => latest);
  const progress = ({ states, state }: WorkflowProgress) => {
    latest = { done: states - 1, total, message: `State ${states} of at most ${total}: ${state}` };
    tell();
  };
  const response = await runTerminalWorkflow(parts, request, { signal: call.signal, progress });
  return fitAnswer(toObject(response));
}

async function awaitOutput({ app }: PerformingParts, args: JsonObject, call: PerformedCall): Promise<JsonObject> {
  const startedAt = performance.now();
  const total = typeof args["timeout"] === "number" ? args["timeout"] : DEFAULT_WAIT_SECONDS;
  call.follow(() => {
    const done = Math.round((performance.now() - startedAt) / 1_000);
    return { done, total, message: `Waiting for output: ${done} of ${total} s` };
  });
  return toObject(await (await app.host()).callTerminal("await_output", args, call.signal));
}

async function getRun(app: Application, args: JsonObject): Promise<JsonObject> {
  const record = await findRun(app, textOf(args, "run_id"));
  return toObject(await describeRun(await app.records(), record));
}

async function cancelRun(app: Application, args: JsonObject): Promise<JsonObject> {
  const { id } = await findRun(app, textOf(args, "run_id"));
  const { reason } = args;
  const host = await app.host();
  return toObject(summarizeRun(await host.cancelRun(id, typeof reason === "string" ? { reason } : {})));
}

async function respondToRun(app: Application, args: JsonObject): Promise<JsonObject> {
  const { path, comment, edited } = args;
  const runId = textOf(args, "run_id");
  const approval = await findApproval(app, typeof path === "string" ? `${runId}:${path}` : runId);
  const answer = toAnswer(textOf(args, "answer"));
  await answerApproval(app, approval, { answer, ...(typeof comment === "string" ? { comment } : {}), edited });
  return { run_id: approval.record.id, path: approval.path, answer };
}

function readListRequest({ status, workflow, limit = 20, cursor }: JsonObject): Parameters<typeof listRuns>[1] {
  if (!(typeof limit === "number" && Number.isInteger(limit) && limit >= 1 && limit <= 100))
    throw invalid("`limit` must be a whole number from 1 to 100.");
  return {
    limit,
    ...(Array.isArray(status) ? { status: status.map(String) } : {}),
    ...(typeof workflow === "string" ? { workflow } : {}),
    ...(typeof cursor === "string" ? { cursor } : {}),
  };
}

function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`\`${name}\` must be a text.`);
}

function toAnswer(text: string): Answer["answer"] {
  if (text === "approve" || text === "reject" || text === "skip") return text;
  throw invalid("`answer` is one of approve, reject, skip.");
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message });
}

/** Descriptions are plain data; what JSON leaves out of them is absent anyway. */
function toObject(value: object | Json): JsonObject {
  const json = value as Json;
  return isJsonObject(json) ? json : {};
}
