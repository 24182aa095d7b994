import type { Context } from "hono";
import { prepareExecute } from "../../../operations/requests/execute-request.ts";
import { readTold, resolveTrustedContext } from "../../../operations/requests/request-context.ts";
import { toExecuteResponse } from "../../../operations/requests/to-response.ts";
import { readRunResult } from "../../../operations/runs/read-run-result.ts";
import { traceRun } from "../../../operations/runs/trace-run.ts";
import { readRequest } from "../../../operations/start/input/read-request.ts";
import { answerJson } from "../answer-json.ts";
import type { HttpEnv, HttpParts } from "../http-parts.ts";
import { callerOf, idempotencyKeyOf } from "../path-of.ts";
import { readJsonBody } from "../read-body.ts";

/** `POST /execute`: one request of the sandbox protocol, answered when its run has ended. */
export async function execute(parts: HttpParts, c: Context<HttpEnv>): Promise<Response> {
  const { runner, submissions } = parts;
  const app = parts.appFor(c);
  runner.refuseWhereFull();
  const request = readRequest(await readJsonBody(c.req.raw, app.config.settings.server.max_body_bytes));
  const requestId = request.requestId ?? c.get("requestId");
  const traceId = request.traceId ?? c.get("traceId");
  c.set("requestId", requestId);
  const answered = { ...request, requestId, traceId };
  const told = parts.callerFor(c).tellsContext ? readTold(request.context) : {};
  const trusted = await resolveTrustedContext(parts.app, runner, callerOf(c), told);
  // The ids of a request are those of one try.
  const { requestId: _, traceId: __, ...work } = request;
  const { runId, ran } = await submissions.run(app, {
    asked: { execute: work, trusted },
    async prepare(runId) {
      const start = await prepareExecute({ ...parts, app }, { ...answered, runId }, trusted);
      c.set("runId", start.runId);
      return { start };
    },
    idempotencyKey: idempotencyKeyOf(c),
    traceParent: c.req.header("traceparent"),
  });
  c.set("runId", runId);
  if (ran.is === "unanswered") throw ran.error;
  if (ran.is === "parked") return answerJson(c, { requestId, run_id: ran.record.id, status: ran.record.status }, 202);
  const sources = await app.records();
  const result = await readRunResult(sources, ran.record, { graphs: parts.graphs });
  const response = toExecuteResponse(requestId, result);
  if (!(parts.app.config.settings.server.debug && c.req.header("x-debug") === "1")) return answerJson(c, response);
  const debug = { run_id: ran.record.id, steps: await traceRun(result.reading) };
  return answerJson(c, { ...response, debug });
}
