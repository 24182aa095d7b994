import { PawlError } from "../../core/errors/pawl-error.ts";
import { toUseLimits } from "../costs/use-limits.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { describeRun } from "../runs/describe-run.ts";
import { acceptedRunSchema, runSchema } from "../runs/run-schemas.ts";
import type { Submission } from "./prepare-submission.ts";
import { type SubmissionBody, submissionSchema } from "./submission-schema.ts";
import { describeSubmitted, type RunRequest, toRunRequest } from "./submit-run.ts";

/** What both operations share. */
const submission = {
  topic: "runs",
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: submissionSchema,
  errors: ["WORKFLOW_NOT_FOUND", "DEFINITION_INVALID", "INPUT_INVALID", "AGENT_NOT_CONFIGURED"],
} as const;

/** Records the run and answers; nobody waits for it. */
export const submitRun = defineOperation({
  ...submission,
  id: "submitRun",
  summary: "Start a run and return at once",
  output: acceptedRunSchema,
  http: { method: "POST", path: "/workflows/run", status: 202 },
  cli: { byHand: ["run"] },
  mcp: { byHand: ["run_workflow", "run_workflow_yaml"] },
  handle: async (context, input) =>
    describeSubmitted(await context.submissions.start(context.app, toRequest(context, input))),
});

/** Answers with the whole run. One that fails is answered too; one that waits for a person is not waited for. */
export const runSync = defineOperation({
  ...submission,
  id: "runSync",
  summary: "Start a run and wait for its end",
  output: runSchema,
  http: { method: "POST", path: "/workflows/run/sync", otherStatuses: [202] },
  cli: { no: "`run` follows the run." },
  mcp: { no: "`run_workflow` with `wait` does the same." },
  statusOf: ({ completed_at: completedAt }) => (completedAt === null ? 202 : 200),
  async handle(context, input) {
    const { runId, ran } = await context.submissions.run(context.app, toRequest(context, input));
    if (ran.is === "unanswered") throw withRun(ran.error, runId);
    return describeRun(await context.app.records(), ran.record);
  },
});

function toRequest(
  { app, traceParent }: OperationContext,
  { idempotency_key: idempotencyKey, ...body }: SubmissionBody,
): RunRequest {
  return { ...toRunRequest(app, toSubmission(body)), idempotencyKey, traceParent };
}

function toSubmission(body: Omit<SubmissionBody, "idempotency_key">): Submission {
  const { workflow, workflow_name: name = "", input, input_data: inputData } = body;
  const { part, version, callback_url: callbackUrl, callback_headers: callbackHeaders, agent, limits = {} } = body;
  return {
    workflow: workflow ?? name,
    part,
    version,
    input: input ?? inputData ?? {},
    callbackUrl,
    callbackHeaders,
    maxCostUsd: body.max_cost_usd ?? limits.max_cost_usd,
    uses: toUseLimits(limits),
    onExceeded: limits.on_exceeded,
    agent,
  };
}

/** The run is recorded all the same: the client must learn its id. */
function withRun({ code, message }: PawlError, runId: string): PawlError {
  return new PawlError(code, { message, details: { run_id: runId } });
}
