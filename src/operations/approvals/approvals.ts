import { z } from "zod";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import type { Json } from "../../core/json.ts";
import { findRun } from "../application/find-run.ts";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";
import { type CliVerb, defineOperation, type OperationContext } from "../operation.ts";
import { eachRun } from "../runs/each-event.ts";
import { idField, jsonSchema, listOf, numberedPage, takePage, timeSchema } from "../schemas.ts";
import { answerApproval, findApproval, findOpenApproval } from "./answer-approval.ts";
import { makeApprovalLink } from "./approval-link.ts";
import { approvalSchema, listApprovals as listOfRun, type OpenApproval } from "./describe-run-approvals.ts";

const run = z.string().min(1).max(200).optional().describe("Of this run: its id, or the beginning of it.");
const id = idField("An `approval_id`, or `RUN:PATH`; the run alone where it has one question only.", "approvals ls");

export const listApprovals = defineOperation({
  id: "listApprovals",
  summary: "List the questions that wait for a person",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ ...numberedPage, run }),
  output: listOf(approvalSchema),
  http: { method: "GET", path: "/approvals" },
  cli: { verb: "approvals ls", summary: "list them", options: { limit: false }, view: "approvals" },
  mcp: {
    tool: "list_approvals",
    title: "List open questions",
    description: "Questions of runs that wait for a person, with what is shown to them.",
  },
  word: ({ approval_id: text, message: meaning }) => ({ text, meaning }),
  async handle({ app }: OperationContext<Stores>, { run, limit = Number.POSITIVE_INFINITY, offset = 0 }) {
    return takePage(await listOpenApprovals(app, { run, atMost: offset + limit }), { limit, offset });
  },
  async count({ app }: OperationContext<Principal & Stores>, { run }) {
    if (run === undefined && app.tenantId === undefined) return (await app.records()).journal.countApprovals();
    return (await listOpenApprovals(app, { run })).length;
  },
});

export const getApproval = defineOperation({
  id: "getApproval",
  summary: "Show one question",
  scope: "read",
  effect: "reads",
  input: z.strictObject({ id }),
  output: approvalSchema,
  errors: ["RUN_NOT_FOUND", "RUN_FINISHED", "APPROVAL_NOT_OPEN"],
  http: { method: "GET", path: "/approvals/{id}" },
  cli: { no: "`approvals ls` tells the same of each." },
  mcp: { no: "`list_approvals` tells the same of each." },
  handle: ({ app }: OperationContext<Stores>, { id }) => findOpenApproval(app, id),
});

export const linkApproval = defineOperation({
  id: "linkApproval",
  summary: "Make an address at which the holder of a key answers this one question, for an e-mail or a chat",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({
    id,
    for: z.string().min(1).max(200).describe("The key's name or id. Where it is revoked the address ends."),
    hours: z.int().min(1).max(720).default(168).describe("How long it holds."),
  }),
  output: z.object({ path: z.string().describe("Put the address of your server before it."), expires_at: timeSchema }),
  errors: ["RUN_NOT_FOUND", "RUN_FINISHED", "APPROVAL_NOT_OPEN", "KEY_NOT_FOUND"],
  http: { method: "POST", path: "/approvals/{id}/link" },
  cli: {
    verb: "approvals link",
    summary: "make an address that answers one",
    args: ["id"],
    options: { for: "--for <key>", hours: "--hours <n>" },
    show: ({ path, expires_at }) => ({ told: [path, `until ${expires_at}`] }),
  },
  mcp: { no: "A person decides to whom an address is sent." },
  async handle({ app }: OperationContext<Place & Principal & Stores>, { id, for: holder, hours }) {
    return makeApprovalLink(app, await findOpenApproval(app, id), { holder, hours });
  },
});

const comment = z.string().max(10_000).optional().describe("Recorded with the answer.");
const output = z.object({
  run_id: z.string(),
  path: z.string(),
  answer: z.enum(["approve", "reject", "skip"]),
  missing: z.int().describe("How many more must approve, until when the run waits on."),
});
const mcp = { no: "`respond_to_run` gives every answer." };

const answer = {
  scope: "run",
  effect: { does: "destroys", beyond: true },
  output,
  errors: [
    "RUN_NOT_FOUND",
    "RUN_FINISHED",
    "APPROVAL_NOT_OPEN",
    "APPROVAL_CONFLICT",
    "APPROVER_REFUSED",
    "APPROVAL_EDIT_REFUSED",
  ],
  mcp,
} as const;

/** Each answer stands at the top, and below `runs`. */
function answersOf(
  word: string,
  { options, wants }: { readonly options?: Readonly<Record<string, string>> } & Pick<CliVerb, "wants"> = {},
): readonly CliVerb<z.output<typeof output>>[] {
  return [word, `runs ${word}`].map((verb) => ({
    verb,
    summary: `${word} what a run asks for`,
    args: ["id"],
    options: { ...options, comment: "--comment <text>" },
    follows: "here",
    wants,
    show: ({ missing }) => ({ told: [missing === 0 ? "Recorded." : `Recorded: ${missing} more must approve.`] }),
  }));
}

export const approve = defineOperation({
  ...answer,
  id: "approve",
  summary: "Say yes, with edited data where the question allows it",
  input: z.strictObject({
    id,
    comment,
    edited_data: jsonSchema.optional().describe("Absent or null: as it was shown."),
  }),
  http: { method: "POST", path: "/approvals/{id}/approve" },
  cli: answersOf("approve", { options: { edited_data: "--edit <json>" } }),
  handle: (context, { id, comment, edited_data: edited }) =>
    give(context, id, { answer: "approve", comment, edited: edited ?? undefined }),
});

export const reject = defineOperation({
  ...answer,
  id: "reject",
  summary: "Say no",
  input: z.strictObject({ id, comment }),
  http: { method: "POST", path: "/approvals/{id}/reject" },
  cli: answersOf("reject", { wants: "failed" }),
  handle: (context, { id, comment }) => give(context, id, { answer: "reject", comment }),
});

export const skip = defineOperation({
  ...answer,
  id: "skip",
  summary: "Go on without an answer: the step is skipped",
  input: z.strictObject({ id, comment }),
  http: { method: "POST", path: "/approvals/{id}/skip" },
  cli: answersOf("skip"),
  handle: (context, { id, comment }) => give(context, id, { answer: "skip", comment }),
});

export const respondToRun = defineOperation({
  ...answer,
  id: "respondToRun",
  summary: "Answer a run",
  input: z.strictObject({
    run_id: idField("The run's id, or the beginning of it."),
    path: z.string().min(1).max(2_000).optional().describe("Of the step that asks, where several do."),
    answer: output.shape.answer,
    comment,
    edited: jsonSchema.optional().describe("Replaces what was shown, where that is allowed."),
  }),
  http: { no: "Each answer has a route of its own." },
  cli: { no: "Each answer has a verb of its own." },
  mcp: {
    tool: "respond_to_run",
    description:
      "Answers the question that a run waits for. The first answer counts. Ask the person you work for before you answer.",
  },
  handle: (context, { run_id: run, path, ...given }) =>
    give(context, path === undefined ? run : `${run}:${path}`, given),
});

interface Given {
  readonly answer: "approve" | "reject" | "skip";
  readonly comment?: string | undefined;
  readonly edited?: Json | undefined;
}

async function give({ app, by }: OperationContext<Principal & Stores & Driving>, id: string, given: Given) {
  const approval = await findApproval(app, id);
  const missing = await answerApproval(app, approval, { ...given, by });
  return { run_id: approval.record.id, path: approval.path, answer: given.answer, missing };
}

/** The approvals that wait for an answer, of all runs (the newest first) or of the one that is named. */
async function listOpenApprovals(
  app: Stores,
  { run, atMost = Number.POSITIVE_INFINITY }: { readonly run?: string | undefined; readonly atMost?: number },
): Promise<readonly OpenApproval[]> {
  const records = await app.records();
  if (run !== undefined) return listOfRun(records, await findRun(app, run));
  const approvals: OpenApproval[] = [];
  const graphs = new Map<string, IndexedGraph>();
  for await (const record of eachRun(records.journal, { hasApprovals: true })) {
    approvals.push(...(await listOfRun(records, record, graphs)));
    if (approvals.length >= atMost) break;
  }
  return approvals;
}
