import { z } from "zod";
import type { Application } from "../../../operations/application/application.ts";
import { answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import type { Submission } from "../../../operations/start/prepare-submission.ts";
import { describeSubmitted, toRunRequest } from "../../../operations/start/submit-run.ts";
import { inputArgument, jsonArgument, runIdArgument, workflowNameArgument } from "./arguments.ts";
import { describeForModel } from "./describe-for-model.ts";
import { defineServiceTool, type ServiceCall, type ServiceTool } from "./service-tool.ts";
import { waitForRun } from "./wait-for-run.ts";

const DEFAULT_WAIT_SECONDS = 600;

const started = { run_id: z.string(), status: z.string() };

const options = {
  input_data: inputArgument,
  wait: z
    .boolean()
    .default(false)
    .describe(
      "Wait for the end, or until a person is asked, and return the whole run. Cancelling the call cancels it.",
    ),
  timeout_seconds: z
    .number()
    .positive()
    .max(3_600)
    .default(DEFAULT_WAIT_SECONDS)
    .describe("How long to wait; the run goes on after that."),
  max_cost_usd: z.number().positive().max(1_000_000).optional().describe("The run stops when this much is spent."),
  idempotency_key: z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/)
    .optional()
    .describe("The same key and arguments have the same run for 24 hours."),
};

type Options = z.output<z.ZodObject<typeof options>>;

const hints = { readOnly: false, destructive: false, idempotent: false, openWorld: true };

/** Tools over runs that wait, or that give a choice between several operations. */
export const RUN_TOOLS: readonly ServiceTool[] = [
  defineServiceTool({
    name: "run_workflow",
    scope: "run",
    title: "Run a workflow",
    description:
      "Starts a workflow by its name and returns the id of the run at once: see it with `get_run_status`. With `wait`, returns " +
      "the whole run when it has ended. A run is durable: it goes on whatever happens to this server or to you.",
    input: z.strictObject({
      workflow_name: workflowNameArgument,
      version: z.int().min(1).optional().describe("Of one that was saved; absent: the newest."),
      ...options,
    }),
    output: started,
    hints,
    perform: (app, { workflow_name: workflow, version, ...rest }, call) =>
      start(app, { workflow, version }, { rest, call }),
  }),
  defineServiceTool({
    name: "run_workflow_yaml",
    scope: "run",
    title: "Run the text of a workflow",
    description:
      "Starts a workflow whose definition is given as a text (YAML or JSON) and stored nowhere else than with its run. Otherwise " +
      "as `run_workflow`.",
    input: z.strictObject({ yaml_content: z.string().min(1).describe("The definition."), ...options }),
    output: started,
    hints,
    // A text has more than one line: one without a line end would be taken for a name.
    perform: (app, { yaml_content: text, ...rest }, call) => start(app, { workflow: `${text}\n` }, { rest, call }),
  }),
  defineServiceTool({
    name: "respond_to_run",
    scope: "run",
    title: "Answer a run",
    description:
      "Answers the question that a run waits for. The first answer counts. Ask the person you work for before you answer.",
    input: z.strictObject({
      run_id: runIdArgument,
      path: z.string().min(1).max(2_000).optional().describe("Of the step that asks, where several do."),
      answer: z.enum(["approve", "reject", "skip"]),
      comment: z.string().max(10_000).optional(),
      edited: jsonArgument.optional().describe("Replaces what was shown, where that is allowed."),
    }),
    output: { run_id: z.string(), path: z.string(), answer: z.string() },
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
    perform: async (app, { run_id: runId, path, answer, comment, edited }) => {
      const approval = await findApproval(app, path === undefined ? runId : `${runId}:${path}`);
      await answerApproval(app, approval, { answer, by: "mcp", comment, edited });
      return { run_id: approval.record.id, path: approval.path, answer };
    },
  }),
];

async function start(
  app: Application,
  what: Pick<Submission, "workflow" | "version">,
  { rest, call }: { readonly rest: Options; readonly call: ServiceCall },
): Promise<object> {
  const { input_data: input = {}, max_cost_usd: maxCostUsd, idempotency_key: idempotencyKey } = rest;
  const submission = { ...what, input, maxCostUsd };
  const started = await call.submissions.start(app, { ...toRunRequest(app, submission), idempotencyKey });
  const { run_id: runId, status } = describeSubmitted(started);
  if (!rest.wait) return { run_id: runId, status };
  await waitForRun(app, { runId, timeoutSeconds: rest.timeout_seconds }, call);
  return describeForModel(app, runId);
}
