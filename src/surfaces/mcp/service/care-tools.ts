import { z } from "zod";
import { answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import { listOpenApprovals } from "../../../operations/approvals/list-open-approvals.ts";
import { jsonArgument, runIdArgument } from "./arguments.ts";
import { fitItems } from "./fit-result.ts";
import { defineServiceTool, type ServiceTool } from "./service-tool.ts";

const reads = { readOnly: true, destructive: false, idempotent: true, openWorld: false };

/** What people are asked. */
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
];
