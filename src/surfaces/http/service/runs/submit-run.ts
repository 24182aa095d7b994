import type { Context } from "hono";
import { PawlError } from "../../../../core/errors/pawl-error.ts";
import { describeRun } from "../../../../operations/describe-run.ts";
import type { Submission } from "../../../../operations/prepare-submission.ts";
import { toUseLimits } from "../../../../operations/use-limits.ts";
import type { HttpEnv } from "../../http-parts.ts";
import { defineEndpoint } from "../endpoint.ts";
import { acceptedRunSchema, runSchema } from "../schemas/run.ts";
import { type SubmissionBody, submissionSchema } from "../schemas/submission.ts";

/** `POST /workflows/run`: records the run and answers; nobody waits for it. */
export const submitRun = defineEndpoint({
  method: "POST",
  path: "/workflows/run",
  id: "submitRun",
  summary: "Start a run and return at once",
  tag: "runs",
  scope: "run",
  body: submissionSchema,
  answer: acceptedRunSchema,
  status: 202,
  async handle({ app, parts, body, c }) {
    const { runId, record } = await parts.submissions.start(app, toRequest(body, c));
    c.set("runId", runId);
    return { data: { run_id: runId, status: record?.status ?? "queued" } };
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
  body: submissionSchema,
  answer: runSchema,
  otherStatuses: [202],
  async handle({ app, parts, body, c }) {
    const request = toRequest(body, c);
    const { runId, ran } = await parts.submissions.run(app, request);
    c.set("runId", runId);
    if (ran.is === "unanswered") throw withRun(ran.error, runId);
    const data = await describeRun(await app.records(), ran.record);
    return { data, status: ran.is === "parked" ? 202 : 200 };
  },
});

function toRequest(body: SubmissionBody, c: Context<HttpEnv>) {
  const header = c.req.header("idempotency-key");
  const { idempotency_key: sent } = body;
  if (header !== undefined && sent !== undefined && header !== sent) {
    throw new PawlError("REQUEST_INVALID", { message: "The header and the body name two idempotency keys." });
  }
  const idempotencyKey = header ?? sent;
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new PawlError("REQUEST_INVALID", { message: "An idempotency key has 1 to 255 printable ASCII characters." });
  }
  const submission = toSubmission(body);
  return {
    submission,
    traceParent: c.req.header("traceparent"),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

function toSubmission(body: SubmissionBody): Submission {
  const { workflow, workflow_name: name = "", input, input_data: inputData } = body;
  const { version, callback_url: callbackUrl, callback_headers: callbackHeaders, agent, limits = {} } = body;
  const maxCostUsd = body.max_cost_usd ?? limits.max_cost_usd;
  const uses = toUseLimits(limits);
  return {
    workflow: workflow ?? name,
    ...(version === undefined ? {} : { version }),
    input: input ?? inputData ?? {},
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(callbackHeaders === undefined ? {} : { callbackHeaders }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(uses === undefined ? {} : { uses }),
    ...(limits.on_exceeded === undefined ? {} : { onExceeded: limits.on_exceeded }),
    ...(agent === undefined ? {} : { agent }),
  };
}

/** The run is recorded all the same: whoever asked must learn its id. */
function withRun({ code, message }: PawlError, runId: string): PawlError {
  return new PawlError(code, { message, details: { run_id: runId } });
}
