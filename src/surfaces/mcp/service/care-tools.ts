import { z } from "zod";
import { answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import { listOpenApprovals } from "../../../operations/approvals/list-open-approvals.ts";
import { COST_GROUPS, sumCosts } from "../../../operations/costs/sum-costs.ts";
import { listDeadLetters } from "../../../operations/dead-letters/list-dead-letters.ts";
import { resolveDeadLetter } from "../../../operations/dead-letters/resolve-dead-letter.ts";
import { prepareDeadLetterRetry } from "../../../operations/dead-letters/retry-dead-letter.ts";
import { listViolations } from "../../../operations/runs/list-violations.ts";
import { cursorArgument, jsonArgument, limitArgument, runIdArgument } from "./arguments.ts";
import { fitItems } from "./fit-result.ts";
import { defineServiceTool, type ServiceTool } from "./service-tool.ts";

const reads = { readOnly: true, destructive: false, idempotent: true, openWorld: false };
const deadLetterId = z.string().min(1).max(2_200).describe("`dead_letter_id` of `list_dead_letters`: RUN:PATH.");
const time = z.iso.datetime({ offset: true }).or(z.iso.date());

/** What people are asked, what has failed for good, and what it has cost. */
export const CARE_TOOLS: readonly ServiceTool[] = [
  defineServiceTool({
    name: "list_approvals",
    scope: "read",
    title: "List open questions",
    description: "Questions of runs that wait for a person, with what is shown to them.",
    input: z.strictObject({}),
    output: { items: z.array(z.looseObject({ run_id: z.string(), path: z.string() })), left_out: z.int() },
    hints: reads,
    perform: async (app) => fitItems(await listOpenApprovals(app)),
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
  defineServiceTool({
    name: "list_dead_letters",
    scope: "read",
    title: "List dead letters",
    description: "Steps that have failed for good, of workflows that keep them, oldest first.",
    input: z.strictObject({
      status: z.enum(["open", "retried", "resolved"]).default("open"),
      workflow: z.string().optional(),
      limit: limitArgument,
      cursor: cursorArgument,
    }),
    output: { items: z.array(z.looseObject({ dead_letter_id: z.string() })), next_cursor: z.string().nullable() },
    hints: reads,
    perform: (app, { status, workflow, limit, cursor }) => listDeadLetters(app, { status, limit, workflow, cursor }),
  }),
  defineServiceTool({
    name: "retry_dead_letter",
    scope: "run",
    title: "Retry a dead letter",
    description: "Does the run again from the step that has failed; of several who ask one gets a run.",
    input: z.strictObject({ dead_letter_id: deadLetterId }),
    output: { run_id: z.string(), status: z.string() },
    hints: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
    perform: async (app, { dead_letter_id: id }) => {
      const { prepared, begin } = await prepareDeadLetterRetry(app, id);
      await begin(async () => (await app.host()).startRun(prepared.start));
      return { run_id: prepared.start.runId, status: "queued" };
    },
  }),
  defineServiceTool({
    name: "resolve_dead_letter",
    scope: "run",
    title: "Resolve a dead letter",
    description: "Notes that nothing more is to be done about a failed step. The status of its run stays.",
    input: z.strictObject({ dead_letter_id: deadLetterId, note: z.string().max(2_000).optional() }),
    output: { dead_letter_id: z.string(), status: z.string() },
    hints: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
    perform: (app, { dead_letter_id: id, note }) => resolveDeadLetter(app, id, note),
  }),
  defineServiceTool({
    name: "list_violations",
    scope: "read",
    title: "List violations of policies",
    description:
      "What policies had to say about outputs of steps, over all runs, newest first. What was found is counted.",
    input: z.strictObject({
      run_id: runIdArgument.optional(),
      workflow: z.string().optional(),
      policy: z.string().optional(),
      action: z.enum(["redact", "block", "approve", "alert"]).optional(),
      limit: limitArgument,
      cursor: cursorArgument,
    }),
    output: {
      items: z.array(z.looseObject({ run_id: z.string(), policy: z.string() })),
      next_cursor: z.string().nullable(),
    },
    hints: reads,
    perform: (app, { run_id: run, ...wanted }) => listViolations(app, { ...wanted, run }),
  }),
  defineServiceTool({
    name: "get_costs",
    scope: "read",
    title: "Sum up costs",
    description: "What runs have cost, by workflow, model, day or tenant. What has no known price is counted apart.",
    input: z.strictObject({
      by: z.enum(COST_GROUPS).default("workflow"),
      since: time.optional(),
      until: time.optional(),
    }),
    output: {},
    hints: reads,
    perform: (app, { by: axis, since, until }) =>
      sumCosts(app, {
        by: axis,
        ...(since === undefined ? {} : { since: Date.parse(since) }),
        ...(until === undefined ? {} : { until: Date.parse(until) }),
      }),
  }),
];
