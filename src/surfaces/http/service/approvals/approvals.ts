import { z } from "zod";
import { PawlError } from "../../../../core/errors/pawl-error.ts";
import type { Application } from "../../../../operations/application/application.ts";
import { answerApproval, findApproval, placeOf } from "../../../../operations/approvals/answer-approval.ts";
import { listApprovals, type OpenApproval } from "../../../../operations/approvals/describe-run-approvals.ts";
import { listOpenApprovals } from "../../../../operations/approvals/list-open-approvals.ts";
import { jsonObjectSchema, jsonSchema, listOf, timeSchema } from "../../../../operations/schemas.ts";
import { defineEndpoint } from "../endpoint.ts";
import { numberedQuery, pageByNumber } from "../page-by-number.ts";

const approvalSchema = z
  .object({
    approval_id: z.string().describe("`RUN:PATH`, of a task's question `RUN:PATH@ASKED`: what an answer names."),
    run_id: z.string(),
    workflow_name: z.string(),
    path: z.string(),
    step_id: z.string(),
    asked: z.int().describe("The event that asked."),
    key: z.string().nullable().describe("What a task calls its question; null for an approval step."),
    message: z.string(),
    shown: jsonSchema.describe("What the person is to judge; approved unchanged, it is an approval step's output."),
    since: timeSchema,
    times_out_at: timeSchema.nullable(),
    on_timeout: z.enum(["abort", "skip"]).nullable(),
    allow_edit: z.boolean(),
    schema: jsonObjectSchema.nullable().describe("What edited data must satisfy."),
  })
  .meta({ id: "Approval", description: "A question that waits for a person." });

const byId = z.object({
  id: z.string().min(1).describe("An `approval_id`, or `RUN:PATH`; the run alone where it has one question only."),
});

export const listApprovalsEndpoint = defineEndpoint({
  method: "GET",
  path: "/approvals",
  id: "listApprovals",
  summary: "List the questions that wait for a person",
  tag: "approvals",
  scope: "read",
  query: z.strictObject(numberedQuery),
  answer: listOf(approvalSchema),
  async handle({ app, query }) {
    const open = await listOpenApprovals(app);
    return pageByNumber(
      open.map((each) => ({ approval_id: idOf(each), ...each })),
      query,
    );
  },
});

export const getApproval = defineEndpoint({
  method: "GET",
  path: "/approvals/{id}",
  id: "getApproval",
  summary: "Show one question",
  tag: "approvals",
  scope: "read",
  params: byId,
  answer: approvalSchema,
  async handle({ app, params }) {
    const { record, path, asked } = await findApproval(app, params.id);
    const all = await listApprovals(await app.records(), record);
    const open = all.find((each) => each.path === path && (asked ?? each.asked) === each.asked);
    if (open === undefined) {
      throw new PawlError("APPROVAL_NOT_OPEN", { message: `No approval is open at "${path}".` });
    }
    return { data: { approval_id: idOf(open), ...open } };
  },
});

function idOf(open: OpenApproval): string {
  return `${open.run_id}:${placeOf(open)}`;
}

const commentBody = { comment: z.string().max(10_000).optional() };
const answered = z.object({ run_id: z.string(), path: z.string(), answer: z.enum(["approve", "reject", "skip"]) });

export const approve = defineEndpoint({
  method: "POST",
  path: "/approvals/{id}/approve",
  id: "approve",
  summary: "Say yes, with edited data where the question allows it",
  tag: "approvals",
  scope: "run",
  params: byId,
  body: z.strictObject({
    ...commentBody,
    edited_data: jsonSchema.optional().describe("Absent or null: as it was shown."),
  }),
  answer: answered,
  async handle({ app, params, body }) {
    const edited = body.edited_data === undefined || body.edited_data === null ? {} : { edited: body.edited_data };
    return { data: await answer(app, params.id, { answer: "approve", comment: body.comment, ...edited }) };
  },
});

export const reject = defineEndpoint({
  method: "POST",
  path: "/approvals/{id}/reject",
  id: "reject",
  summary: "Say no",
  tag: "approvals",
  scope: "run",
  params: byId,
  body: z.strictObject(commentBody),
  answer: answered,
  async handle({ app, params, body }) {
    return { data: await answer(app, params.id, { answer: "reject", comment: body.comment }) };
  },
});

export const skip = defineEndpoint({
  method: "POST",
  path: "/approvals/{id}/skip",
  id: "skip",
  summary: "Go on without an answer: the step is skipped",
  tag: "approvals",
  scope: "run",
  params: byId,
  body: z.strictObject(commentBody),
  answer: answered,
  async handle({ app, params, body }) {
    return { data: await answer(app, params.id, { answer: "skip", comment: body.comment }) };
  },
});

interface Given {
  readonly answer: "approve" | "reject" | "skip";
  readonly comment: string | undefined;
  readonly edited?: z.output<typeof jsonSchema>;
}

async function answer(app: Application, id: string, { answer, comment, edited }: Given) {
  const approval = await findApproval(app, id);
  await answerApproval(app, approval, { answer, by: "api", comment, edited });
  return { run_id: approval.record.id, path: approval.path, answer };
}
