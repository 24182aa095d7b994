import type { Context } from "hono";
import { PawlError } from "../../../../core/errors/pawl-error.ts";
import type { Application } from "../../../../operations/application/application.ts";
import { toUseLimits } from "../../../../operations/costs/use-limits.ts";
import { describeRun } from "../../../../operations/runs/describe-run.ts";
import { acceptedRunSchema, runSchema } from "../../../../operations/runs/run-schemas.ts";
import type { Submission } from "../../../../operations/start/prepare-submission.ts";
import { describeSubmitted, type RunRequest, toRunRequest } from "../../../../operations/start/submit-run.ts";
import type { HttpEnv } from "../../http-parts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "../idempotency-key.ts";
import { type SubmissionBody, submissionSchema } from "../schemas/submission.ts";

/** `POST /workflows/run`: records the run and answers; nobody waits for it. */
export const submitRun = defineEndpoint({
  method: "POST",
  path: "/workflows/run",
  id: "submitRun",
  summary: "Start a run and return at once",
  tag: "runs",
  scope: "run",
  headers: IDEMPOTENCY_HEADER,
  body: submissionSchema,
  answer: acceptedRunSchema,
  status: 202,
  async handle({ app, parts, body, c }) {
    const data = describeSubmitted(await parts.submissions.start(app, toRequest(app, body, c)));
    c.set("runId", data.run_id);
    return { data };
  },
});

/** `POST /workflows/run/sync`: the whole run. One that fails is answered too; one that waits is not waited for. */
export const runSync = defineEndpoint({
  method: "POST",
  path: "/workflows/run/sync",
  id: "runSync",
  summary: "Start a run and wait for its end",
  tag: "runs",
  scope: "run",
  headers: IDEMPOTENCY_HEADER,
  body: submissionSchema,
  answer: runSchema,
  otherStatuses: [202],
  async handle({ app, parts, body, c }) {
    const { runId, ran } = await parts.submissions.run(app, toRequest(app, body, c));
    c.set("runId", runId);
    if (ran.is === "unanswered") throw withRun(ran.error, runId);
    const data = await describeRun(await app.records(), ran.record);
    return { data, status: ran.is === "parked" ? 202 : 200 };
  },
});

function toRequest(app: Application, body: SubmissionBody, c: Context<HttpEnv>): RunRequest {
  return {
    ...toRunRequest(app, toSubmission(body)),
    idempotencyKey: readIdempotencyKey(c, body.idempotency_key),
    traceParent: c.req.header("traceparent"),
  };
}

function toSubmission(body: SubmissionBody): Submission {
  const { workflow, workflow_name: name = "", input, input_data: inputData } = body;
  const { part, version, callback_url: callbackUrl, callback_headers: callbackHeaders, agent, limits = {} } = body;
  const maxCostUsd = body.max_cost_usd ?? limits.max_cost_usd;
  const uses = toUseLimits(limits);
  return {
    workflow: workflow ?? name,
    part,
    version,
    input: input ?? inputData ?? {},
    callbackUrl,
    callbackHeaders,
    maxCostUsd,
    uses,
    onExceeded: limits.on_exceeded,
    agent,
  };
}

/** The run is recorded all the same: whoever asked must learn its id. */
function withRun({ code, message }: PawlError, runId: string): PawlError {
  return new PawlError(code, { message, details: { run_id: runId } });
}
