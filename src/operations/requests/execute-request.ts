import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import type { JsonSchemas } from "../../schemas/json-schemas.ts";
import type { Library, Place, StartPorts } from "../application/ports.ts";
import { holdTo } from "../definitions/compile-text.ts";
import { registryOf } from "../definitions/load-options.ts";
import { findRegistered } from "../definitions/registry.ts";
import type { ExecuteRequest, RequestedWork } from "../start/input/read-request.ts";
import { toRequestInput } from "../start/input/to-run-input.ts";
import { type PreparedRun, prepareStart } from "../start/prepare-run.ts";
import type { FetchedDefinitions, Remote } from "./fetched-definitions.ts";
import { oneStepDefinition } from "./one-step-definition.ts";
import { withoutTrusted } from "./request-context.ts";

export interface ExecuteParts {
  readonly app: StartPorts;
  readonly fetched: FetchedDefinitions;
  readonly checker: JsonSchemas;
}

export interface AnsweredRequest extends ExecuteRequest {
  readonly requestId: string;
  /** Of its run. Absent: a new one. */
  readonly runId?: string | undefined;
}

/**
 * The run that a request asks for, with everything checked that can be known before it begins. `trusted` is what the
 * server itself says about the caller. Throws `WORKFLOW_NOT_FOUND`, `STEP_NOT_FOUND`, `INPUT_INVALID`, `REQUEST_INVALID`.
 */
export async function prepareExecute(
  { app, fetched, checker }: ExecuteParts,
  request: AnsweredRequest,
  trusted: JsonObject,
): Promise<PreparedRun> {
  const { requestId, traceId, requestData, work, runId } = request;
  const found = await findWork({ app, fetched }, request);
  const context = {
    ...withoutTrusted(request.context),
    ...(traceId === undefined ? {} : { traceId }),
    ...trusted,
  };
  const input = await toRequestInput({ requestId, requestData, context }, found.definition.graph, checker);
  const startAt = work.kind === "workflow" ? work.startAt : undefined;
  const startable = { ...found, input, ...(startAt && { startAt }), ...(runId && { runId }) };
  return prepareStart(app, startable, { folder: app.appDir });
}

interface FoundWork {
  readonly definition: CompiledDefinition;
  readonly file?: string;
}

async function findWork(parts: Omit<ExecuteParts, "checker">, request: AnsweredRequest): Promise<FoundWork> {
  const { app, fetched } = parts;
  const { work } = request;
  const named = remoteOf(request, textOf(request.context, "mcp_endpoint"));
  if (work.kind !== "workflow") {
    const { kind, details } = work;
    const read = named === undefined ? {} : { read: (path: string) => fetched.read(named, path) };
    const definition = await oneStepDefinition({ kind, details, appDir: app.appDir, ...read });
    return { definition: holdTo(definition, app.grant) };
  }
  if (named !== undefined) return { definition: await fetched.find(named, pathOf(work), app.grant) };
  const found = await findInApplication(app, work.workflowId);
  if (found !== undefined) return found;
  const configured = remoteOf(request, app.config.settings.uhlp.mcp_endpoint);
  if (configured === undefined) throw unknownWorkflow(app, work.workflowId);
  return { definition: await fetched.find(configured, pathOf(work), app.grant) };
}

async function findInApplication(app: Place & Library, workflowId: string): Promise<FoundWork | undefined> {
  const registered = await findRegistered(registryOf(app), workflowId);
  if (registered === undefined) return undefined;
  const { definition } = registered.report;
  if (definition !== undefined) return { definition, file: registered.file };
  throw new PawlError("DEFINITION_INVALID", { message: `The definition of "${workflowId}" has problems.` });
}

/** Another application is asked for what belongs to it. */
function remoteOf({ context, requestId, traceId }: AnsweredRequest, endpoint: string | undefined): Remote | undefined {
  const appId = textOf(context, "appId");
  if (endpoint === undefined || appId === undefined) return undefined;
  return { endpoint, appId, requestId, ...(traceId === undefined ? {} : { traceId }) };
}

function pathOf({ workflowId, filePath }: RequestedWork & { readonly kind: "workflow" }): string {
  const path = filePath ?? `workflows/${workflowId}.yaml`;
  if (!path.startsWith("/") && !path.split(/[\\/]/).includes("..")) return path;
  throw new PawlError("REQUEST_INVALID", {
    message: `The request is not valid: "${path}" leads out of the application.`,
  });
}

function textOf(context: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(context, name) ? context[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function unknownWorkflow({ library }: Library, workflowId: string): PawlError {
  const meant = didYouMean(workflowId, library?.list().map(({ name }) => name) ?? []);
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `There is no workflow "${workflowId}".`,
    remedy: meant === undefined ? "Correct `workflowId`." : `Did you mean "${meant}"?`,
  });
}
