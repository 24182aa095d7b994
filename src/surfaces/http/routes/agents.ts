import type { Context } from "hono";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject, ownField } from "../../../core/json.ts";
import { findAgentsWorkflow } from "../../../operations/agents/find-agents-workflow.ts";
import {
  readAgentAnswer,
  readWorkflowAnswer,
  type WorkflowAnswer,
} from "../../../operations/agents/read-agents-answer.ts";
import type { Stores } from "../../../operations/application/ports.ts";
import type { ReferredDefinition } from "../../../operations/definitions/find-definition.ts";
import { describeHost } from "../../../operations/requests/describe-host.ts";
import { toRunInput } from "../../../operations/start/input/to-run-input.ts";
import { prepareStart } from "../../../operations/start/prepare-run.ts";
import type { RunRequest } from "../../../operations/start/submit-run.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { idempotencyKeyOf, pathOf } from "../path-of.ts";
import { readJsonBody } from "../read-body.ts";
import { tellRun, wantsEvents } from "./tell-run.ts";

/** `POST /workflows/{workflow_name}/execute`: a workflow of agents, answered when its run has ended. */
export async function executeWorkflow(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const request = await readRequest(parts, c, "initial_user_message");
  const app = parts.appFor(c);
  const found = await findAgentsWorkflow(app, nameIn(c));
  return answerRun(parts, c, { found, request, answer: (record) => answerWorkflow(app, record, request) });
}

/** `POST /agents/{name}/execute`: one agent alone. */
export async function executeAgent(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const request = await readRequest(parts, c, "user_message");
  const app = parts.appFor(c);
  const found = await parts.agents.find(nameIn(c));
  const answer = async (record: RunRecord) => readAgentAnswer(await app.records(), record);
  return answerRun(parts, c, { found, request, answer });
}

/** `POST /execution/workflows/{linear|graph|custom}/{name}/run`: the same in the words of later versions of the original. */
export async function runWorkflow(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const kind = c.req.param("kind") ?? "";
  if (kind === "custom") return executeCustomWorkflow(parts, c);
  if (kind !== "linear" && kind !== "graph")
    throw new PawlError("PATH_NOT_FOUND", {
      message: `There are linear and graph workflows, and none that are ${kind}.`,
    });
  const request = await readRequest(parts, c, "initial_input");
  const app = parts.appFor(c);
  const found = await findAgentsWorkflow(app, nameIn(c), kind);
  const answer = async (record: RunRecord) => toLaterWords(await answerWorkflow(app, record, request), request);
  return answerRun(parts, c, { found, request, answer });
}

/** Python classes: they are not run here, and the answer says why. */
export function executeCustomWorkflow(_parts: HttpParts, c: Context<HttpEnv>): Response {
  throw new PawlError("NOT_SUPPORTED", {
    message: `Custom workflow '${nameIn(c)}' is not run: custom workflows are Python classes.`,
    remedy: "Write its steps as a workflow of the agents file, or in Python as code steps of a UHLP workflow.",
  });
}

/** `GET /status`: 503 where no run could begin now. */
export async function showStatus(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  if (parts.streams.stopping.aborted) throw new PawlError("SERVER_STOPPING", { message: "This process stops." });
  return answerJson(c, await describeHost(parts.appFor(c)));
}

function nameIn(c: Context<HttpEnv>): string {
  return c.req.param("name") ?? "";
}

async function readRequest(parts: HttpParts, c: Context<HttpEnv>, field: MessageField): Promise<AgentsRequest> {
  parts.runner.refuseWhereFull();
  return readAgentsRequest(await readJsonBody(c.req.raw, parts.app.config.settings.server.max_body_bytes), field);
}

async function answerWorkflow(app: Stores, record: RunRecord, { message }: AgentsRequest): Promise<WorkflowAnswer> {
  return readWorkflowAnswer(await app.records(), record, message);
}

function toLaterWords({ steps, final_message, ...rest }: WorkflowAnswer, { sessionId }: AgentsRequest) {
  return {
    workflow_name: rest.workflow_name,
    status: rest.status,
    step_results: steps.map(({ name, type, message }) => ({ step_name: name, step_type: type, result: message })),
    final_output: final_message,
    error: rest.error,
    session_id: sessionId ?? null,
    run_id: rest.run_id,
  };
}

interface AskedRun {
  readonly found: ReferredDefinition;
  readonly request: AgentsRequest;
  /** How a run has ended, or how it stands where it waits. */
  answer(record: RunRecord): Promise<object>;
}

async function answerRun(parts: HttpParts, c: Context<HttpEnv>, asked: AskedRun): Promise<Response> {
  const app = parts.appFor(c);
  const { found } = asked;
  const request: RunRequest = {
    asked: { path: pathOf(c.req.url), ...asked.request },
    async prepare(runId) {
      const input = await toRunInput(toAgentsInput(asked.request), found.definition.graph, parts.checker);
      const start = await prepareStart(app, { ...found, input, ...(runId && { runId }) }, { folder: app.appDir });
      c.set("runId", start.runId);
      return { start };
    },
    idempotencyKey: idempotencyKeyOf(c),
    traceParent: c.req.header("traceparent"),
  };
  if (wantsEvents(c)) return tellRun(parts, c, { app, graph: found.definition.graph, request, answer: asked.answer });
  const { runId, ran } = await parts.submissions.run(app, request);
  c.set("runId", runId);
  if (ran.is === "unanswered") throw ran.error;
  const answer = await asked.answer(ran.record);
  return ran.is === "parked" ? answerJson(c, { ...answer, status: ran.record.status }, 202) : answerJson(c, answer);
}

interface AgentsRequest {
  readonly message: string;
  /** The conversation that it belongs to. Agents with `include_history` remember it. */
  readonly sessionId?: string;
}

/** Under what name the message comes, by route. */
type MessageField = "initial_user_message" | "user_message" | "initial_input";

const MAX_SESSION_ID_CHARS = 200;

/** Reads a request as it came; what it does not know is ignored. Throws `REQUEST_INVALID`. */
function readAgentsRequest(body: Json, field: MessageField): AgentsRequest {
  if (!isJsonObject(body)) throw invalid(`The body must be an object with \`${field}\`.`);
  const message = ownField(body, field);
  if (typeof message !== "string") throw invalid(`\`${field}\` must be a text.`);
  const sessionId = ownField(body, "session_id") ?? undefined;
  if (sessionId === undefined) return { message };
  if (typeof sessionId === "string" && sessionId !== "" && sessionId.length <= MAX_SESSION_ID_CHARS)
    return { message, sessionId };
  throw invalid(`\`session_id\` must be a text of 1 to ${MAX_SESSION_ID_CHARS} characters.`);
}

function toAgentsInput({ message, sessionId }: AgentsRequest): JsonObject {
  return { message, ...(sessionId === undefined ? {} : { session_id: sessionId }) };
}

function invalid(message: string): PawlError {
  return new PawlError("REQUEST_INVALID", { message, remedy: "Correct the request." });
}
