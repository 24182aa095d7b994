import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import { parseStepPath } from "../../core/graph/step-path.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { EVERYTHING, isEverything } from "../../core/trust/grant.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { RunNotice } from "../../hosts/run-host.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { WorkflowLibrary } from "../../ports/terminals/workflow-library.ts";
import { findRun } from "../application/find-run.ts";
import type { AppHost, Driving, StartPorts, Stores } from "../application/ports.ts";
import { compileText } from "../definitions/compile-text.ts";
import { findDefinition } from "../definitions/find-definition.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { findSaved } from "../definitions/saved-definitions.ts";
import { cancelUnfinished } from "../runs/cancel-unfinished.ts";
import { followRun } from "../runs/follow/follow-run.ts";
import { toRunInput } from "../start/input/to-run-input.ts";
import { type PreparedRun, prepareStart } from "../start/prepare-run.ts";
import { Submissions } from "../start/submit-run.ts";
import { withWorkflowLimits } from "../start/workflow-limits.ts";
import { readWorkflowResult } from "./read-workflow-result.ts";
import { failedResponse, type RunWorkflowRequest, type RunWorkflowResponse } from "./run-workflow-tool.ts";

export interface TerminalWorkflows {
  readonly app: StartPorts & Driving;
  readonly library: WorkflowLibrary;
}

export interface WorkflowProgress {
  readonly runId: string;
  /** States that have begun, those of workflows inside not counted. */
  readonly states: number;
  readonly maxStates: number;
  readonly state: string;
}

export interface WorkflowWatch {
  /** Ends the waiting, not the run. */
  readonly signal: AbortSignal;
  progress?(progress: WorkflowProgress): void;
}

/**
 * Runs a terminal workflow to its end, or for as long as the request waits, and answers as `run_workflow` does. What goes
 * wrong is in the answer: it never throws for what a request, a definition or a run may be like.
 */
export async function runTerminalWorkflow(
  parts: TerminalWorkflows,
  request: RunWorkflowRequest,
  watch: WorkflowWatch,
): Promise<RunWorkflowResponse> {
  try {
    return await respond(parts, { request, ...(await submit(parts, request, watch)) });
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return failedResponse(explain(error), await listNames(parts));
  }
}

/** Begins the run, or finds the one that an equal request with the same key has begun, and waits for it. */
async function submit(
  parts: TerminalWorkflows,
  request: RunWorkflowRequest,
  watch: WorkflowWatch,
): Promise<Omit<Ended, "request">> {
  if ("runId" in request.source) return { ended: await collect(parts, request.source, { request, watch }) };
  const { idempotencyKey, waitSeconds: _, ...asked } = request;
  let followed: Promise<RunRecord> | undefined;
  const start = ({ runId, ...prepared }: PreparedRun) =>
    new Promise<void>((begun, refused) => {
      const begin = async (host: AppHost) => host.startRun({ ...prepared, runId }).then(() => begun());
      followed = follow(parts, { runId, begin }, { request, watch });
      followed.catch(refused);
    });
  const submitted = await new Submissions({
    start,
    run: () => Promise.reject(new Error("Runs are followed here.")),
  }).start(parts.app, {
    asked,
    idempotencyKey,
    prepare: async (runId) => ({ start: await prepare(parts, request, runId) }),
  });
  if (submitted.is === "new" && followed !== undefined)
    return { prepared: submitted.prepared.start, ended: await followed };
  const runId = submitted.is === "new" ? submitted.prepared.start.runId : submitted.record.id;
  return { ended: await follow(parts, { runId, begin: async () => undefined }, { request, watch }) };
}

/** Waits for a run that an earlier request has begun, of this process or another. */
async function collect(
  parts: TerminalWorkflows,
  { runId: id, cancel }: Extract<RunWorkflowRequest["source"], { readonly runId: string }>,
  following: Following,
): Promise<RunRecord> {
  const record = await findRun(parts.app, id);
  if (record.completedAt !== undefined) return record;
  if (cancel) await cancelUnfinished(parts.app, record.id, { by: "mcp", reason: undefined });
  return follow(parts, { runId: record.id, begin: async () => undefined }, following);
}

async function prepare(parts: TerminalWorkflows, request: RunWorkflowRequest, runId?: string): Promise<PreparedRun> {
  const { app } = parts;
  const { maxStates, executionTimeoutSeconds, initialVariables, keepSessions } = request;
  const found = await findWorkflow(parts, request);
  const input = await toRunInput(initialVariables, found.graph);
  const prepared = await prepareStart(app, { definition: found, input, runId }, { folder: app.appDir });
  const options: JsonObject = {
    ...prepared.options,
    max_states: maxStates,
    execution_timeout: executionTimeoutSeconds,
    ...(keepSessions ? {} : { keep_sessions: false }),
  };
  return { ...prepared, options, definition: withWorkflowLimits(found, options) };
}

/** A saved workflow goes before a registered one of the same name. */
async function findWorkflow(
  { app, library }: TerminalWorkflows,
  { source }: RunWorkflowRequest,
): Promise<CompiledDefinition> {
  const { appDir, config } = app;
  const loading = loadOptionsOf(config);
  const isSent = "definition" in source;
  const name = "name" in source ? source.name : "";
  const definition = isSent ? source.definition : await library.load(name);
  const grant = isSent ? app.grant : EVERYTHING;
  if (definition !== undefined) return compileText(toText(definition), { grant, folders: [appDir], ...loading });
  try {
    const places = { folders: [], appDir, ...loading, onlyNames: true, library: app.library };
    return (await findDefinition(name, { ...places, findSaved: (wanted) => findSaved(app, wanted) })).definition;
  } catch (error) {
    if (!isPawlError(error) || error.code !== "WORKFLOW_NOT_FOUND") throw error;
    const names = (await library.list()).map((saved) => `'${saved.name}'`);
    const message = `Workflow '${name}' not found. Available: [${names.join(", ")}]`;
    throw new PawlError("WORKFLOW_NOT_FOUND", { message });
  }
}

function toText(definition: JsonObject): string {
  try {
    return writeExact(definition, 2);
  } catch (cause) {
    // A definition from the wire may be nested too deeply to be written.
    throw new PawlError("REQUEST_INVALID", { message: "`workflow_definition` is nested too deeply.", cause });
  }
}

interface Following {
  readonly request: RunWorkflowRequest;
  readonly watch: WorkflowWatch;
}

interface Beginning {
  readonly runId: string;
  begin(host: AppHost): Promise<unknown>;
}

/** The run's record, when it has ended or is waited for no longer. */
async function follow({ app }: TerminalWorkflows, run: Beginning, following: Following): Promise<RunRecord> {
  const { request, watch } = following;
  const { runId } = run;
  const patience = request.waitSeconds === undefined ? [] : [AbortSignal.timeout(request.waitSeconds * 1_000)];
  const stop = AbortSignal.any([watch.signal, ...patience]);
  const listen = toProgress(runId, following);
  let started: Promise<unknown> = Promise.resolve();
  const begin = (host: AppHost) => {
    started = run.begin(host);
    return started;
  };
  const followed = await followRun(app, { runId, begin, listen }, stop);
  if (followed.is === "settled") return followed.record;
  // A run that is not durable yet cannot be found.
  await started;
  return recordOf(app, runId);
}

async function recordOf(app: Stores, runId: string): Promise<RunRecord> {
  const record = await (await app.records()).journal.findRun(runId);
  if (record !== undefined && record !== "ambiguous") return record;
  throw new PawlError("RUN_NOT_FOUND", { message: `There is no run "${runId}".` });
}

function toProgress(runId: string, { request, watch }: Following): (notice: RunNotice) => void {
  let states = 0;
  return (notice) => {
    const path = beginningOf(notice);
    if (path === undefined || path.includes("/")) return;
    states += 1;
    watch.progress?.({ runId, states, maxStates: request.maxStates, state: parseStepPath(path).stepId });
  };
}

/** The path of a state that begins with this. */
function beginningOf(notice: RunNotice): string | undefined {
  if (notice.type === "dispatched") return notice.path;
  return notice.type === "event" && notice.event.type === "callResolved" ? notice.event.path : undefined;
}

interface Ended {
  readonly request: RunWorkflowRequest;
  /** Absent: an equal request has begun it, and keeps its definition. */
  readonly prepared?: PreparedRun;
  readonly ended: RunRecord;
}

async function respond(parts: TerminalWorkflows, { request, prepared, ended }: Ended): Promise<RunWorkflowResponse> {
  const { app } = parts;
  const result = await readWorkflowResult(await app.records(), ended);
  const isOver = ended.completedAt !== undefined;
  const isOurs = prepared !== undefined;
  const saved =
    isOurs && result.success ? await keep(parts, { request, prepared, states: result.execution_log.length }) : {};
  if (isOurs && !isOver) saveLater(parts, { request, prepared, ended });
  return {
    ...result,
    ...saved,
    ...(isOver
      ? {}
      : { success: null, final_state: result.execution_log.at(-1)?.state ?? null, next: sayNext(ended.id) }),
    available_workflows: await listNames(parts),
    run_id: ended.id,
    status: ended.status,
  };
}

function sayNext(runId: string): string {
  return `The workflow goes on by itself. run_workflow with {"run_id": "${runId}"} waits for it again, and with "cancel": true ends it.`;
}

interface Success {
  readonly request: RunWorkflowRequest;
  readonly prepared: PreparedRun;
  readonly states: number;
}

type Kept = Partial<Pick<RunWorkflowResponse, "workflow_saved" | "saved_workflow_name" | "error">>;

/** Only what came with the request is saved; of what was there already the success is counted. */
async function keep({ app, library }: TerminalWorkflows, { request, prepared, states }: Success): Promise<Kept> {
  const { source, saveOnSuccess } = request;
  try {
    if ("name" in source) {
      await library.noteSuccess(source.name);
      return {};
    }
    if (!("definition" in source) || !saveOnSuccess || !traitsOf(prepared.definition.graph).isTerminal) return {};
    // The library is the operator's: what is in it may do everything.
    if (!isEverything(app.grant)) return {};
    const name = await library.save(source.definition, { states });
    return { workflow_saved: name !== undefined, saved_workflow_name: name ?? null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { error: `Workflow succeeded but saving failed: ${reason}` };
  }
}

/** Saves a success after the request has been answered, as long as this process is there. */
function saveLater(parts: TerminalWorkflows, { request, prepared, ended }: Required<Ended>): void {
  const { app } = parts;
  const finish = async () => {
    const record = await (await app.host()).settled(ended.id);
    const result = await readWorkflowResult(await app.records(), record);
    if (result.success) await keep(parts, { request, prepared, states: result.execution_log.length });
  };
  finish().catch(() => undefined);
}

async function listNames({ library }: TerminalWorkflows): Promise<string[]> {
  try {
    return (await library.list()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** The problems of a definition in one text, each with its place. */
function explain(error: PawlError): string {
  if (error.code === "WORKFLOW_NOT_FOUND") return error.message;
  const problems = isJsonObject(error.details) ? error.details["problems"] : undefined;
  if (error.code !== "DEFINITION_INVALID" || !Array.isArray(problems))
    return `Workflow execution failed: ${error.message}`;
  const errors = problems.filter((problem: Json) => isJsonObject(problem) && problem["severity"] === "error");
  return errors.map((problem: Json) => explainProblem(isJsonObject(problem) ? problem : {})).join("\n");
}

function explainProblem({ message, remedy, place }: JsonObject): string {
  const { line, column } = isJsonObject(place) ? place : {};
  const where = typeof line === "number" ? ` (line ${line}, column ${Number(column)})` : "";
  return `${String(message)}${where}${typeof remedy === "string" ? ` ${remedy}` : ""}`;
}
