import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { StartPorts } from "../application/ports.ts";
import { toUseLimits } from "../limits/use-limits.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { describeRun } from "../runs/describe/describe-run.ts";
import { acceptedRunSchema, runSchema } from "../runs/run-schemas.ts";
import { aliasOf, idempotencyKey, jsonObjectSchema } from "../schemas.ts";
import type { Submission } from "./prepare-submission.ts";
import { type SubmissionBody, submissionSchema } from "./submission-schema.ts";
import { describeSubmitted, type RunRequest, toRunRequest } from "./submit-run.ts";

const submission = {
  scope: "run",
  effect: { does: "writes", beyond: true },
  input: submissionSchema,
  errors: [
    "WORKFLOW_NOT_FOUND",
    "DEFINITION_INVALID",
    "DEFINITION_TOO_COSTLY",
    "INPUT_INVALID",
    "AGENT_NOT_CONFIGURED",
  ],
} as const;

/** Records the run and answers; nobody waits for it. */
export const submitRun = defineOperation({
  ...submission,
  id: "submitRun",
  summary: "Start a run and return at once",
  output: acceptedRunSchema,
  http: { method: "POST", path: "/workflows/run", status: 202 },
  cli: { byHand: ["run"] },
  mcp: { no: "`run_workflow` and `run_workflow_yaml` start it, and wait where that is asked for." },
  handle: async (context: OperationContext<StartPorts>, input) =>
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
  async handle(context: OperationContext<StartPorts>, input) {
    const { runId, ran } = await context.submissions.run(context.app, toRequest(context, input));
    // The run is recorded all the same: the client must learn its id.
    if (ran.is === "unanswered")
      throw new PawlError(ran.error.code, { message: ran.error.message, details: { run_id: runId } });
    return describeRun(await context.app.records(), ran.record);
  },
});

const seconds = z.number().positive().max(3_600);

/** Fields that models may give. */
const wished = {
  input_data: jsonObjectSchema.default({}).describe("The input of the run: an object, or the JSON text of one."),
  wait: z.boolean().default(false).describe("Wait for the end, or until a person is asked, and return the whole run."),
  wait_seconds: seconds.optional().describe("How long to wait (25); the run goes on after that."),
  timeout_seconds: aliasOf("wait_seconds", seconds),
  max_cost_usd: submissionSchema.shape.max_cost_usd,
  priority: submissionSchema.shape.priority,
  idempotency_key: idempotencyKey,
};

/** Shared by the tools that start runs. The surface waits for the end where that is asked for. */
const forModels = {
  scope: "run",
  effect: { does: "writes", beyond: true },
  output: acceptedRunSchema,
  errors: submission.errors,
  http: { no: "`submitRun` starts a run, and `streamRun` follows it." },
  cli: { no: "`run` follows the run." },
} as const;

export const runWorkflow = defineOperation({
  ...forModels,
  id: "runWorkflow",
  summary: "Run a workflow",
  input: z.strictObject({
    workflow_name: z.string().min(1).max(200).describe("The name of a workflow: see `list_workflows`."),
    version: submissionSchema.shape.version,
    ...wished,
  }),
  mcp: {
    tool: "run_workflow",
    description:
      "Starts a workflow by its name and returns the id of the run at once: see it with `get_run_status`. With `wait`, returns " +
      "the whole run when it has ended. A run is durable: it goes on whatever happens to this server or to you.",
    waits: true,
  },
  handle: (context, { workflow_name: workflow, version, ...rest }) => start(context, { workflow, version }, rest),
});

export const runWorkflowText = defineOperation({
  ...forModels,
  id: "runWorkflowText",
  summary: "Run the text of a workflow",
  input: z.strictObject({ yaml_content: z.string().min(1).describe("The definition."), ...wished }),
  mcp: {
    tool: "run_workflow_yaml",
    description:
      "Starts a workflow whose definition is given as a text (YAML or JSON) and stored nowhere else than with its run. Otherwise " +
      "as `run_workflow`.",
    waits: true,
  },
  // A text has more than one line: one without a line end would be taken for a name.
  handle: (context, { yaml_content: text, ...rest }) => start(context, { workflow: `${text}\n` }, rest),
});

async function start(
  { app, submissions }: OperationContext<StartPorts>,
  what: Pick<Submission, "workflow" | "version">,
  rest: z.output<z.ZodObject<typeof wished>>,
) {
  const { input_data: input, max_cost_usd: maxCostUsd, priority, idempotency_key: idempotencyKey } = rest;
  const request = toRunRequest(app, { ...what, input, maxCostUsd, priority });
  return describeSubmitted(await submissions.start(app, { ...request, idempotencyKey }));
}

function toRequest(
  { app, traceParent }: OperationContext<StartPorts>,
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
    priority: body.priority,
    agent,
  };
}
