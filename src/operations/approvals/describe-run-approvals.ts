import { z } from "zod";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import type { ApprovalAsked, QuestionAsked } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { timerOf } from "../../core/interpreter/timers.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import { tellTerms, termsOf } from "../../core/trust/approvers.ts";
import type { RunRecord } from "../../ports/journal.ts";
import {
  type RunReading,
  type RunSources,
  readHandles,
  readRunHistory,
} from "../runs/describe/describe-run-reading.ts";
import { readRunStarted } from "../runs/read-run-started.ts";
import { type Frozen, jsonObjectSchema, jsonSchema, timeSchema } from "../schemas.ts";
import { placeOf } from "./place-of.ts";

export const approvalSchema = z
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
    approvers: z
      .array(z.string())
      .nullable()
      .describe("Keys and groups that may answer it. Null: whoever may answer runs."),
    quorum: z.int().describe("How many different people must approve."),
    approved_by: z.array(z.string()).describe("Those of them who have."),
    not_by: z.array(z.string()).describe("Who may not answer it, since they have asked for the run."),
    reminded: z.int().describe("How often those who were told of it were reminded."),
    escalated_to: z.array(z.string()).nullable().describe("Who was told after them. Null: nobody so far."),
    terms: z.string().nullable().describe("The same in words. Null: one of those who may answer runs is enough."),
    allow_edit: z.boolean(),
    schema: jsonObjectSchema
      .nullable()
      .describe("What edited data must satisfy; of a task's question, what is shown too."),
  })
  .meta({ id: "Approval", description: "A question that waits for a person." });

/** A question that waits for a person: an approval step's, or one that a task has asked on its way. */
export type OpenApproval = Frozen<z.output<typeof approvalSchema>>;

/** The open approvals of one run, longest waiting first. `graphs`: those at hand; those that are read are added. */
export async function listApprovals(
  sources: RunSources,
  record: RunRecord,
  graphs?: Map<string, IndexedGraph>,
): Promise<readonly OpenApproval[]> {
  const reading = await readRunHistory(sources, record, { graphs });
  const { options = {} } = (await readRunStarted(sources.journal, record)) ?? {};
  const approvals: OpenApproval[] = [];
  for (const instance of reading.history.state.active.values()) {
    if (instance.phase !== "approval") continue;
    const asked = await readAsked(reading, instance);
    approvals.push(await describeApproval(reading, instance, { asked, options }));
  }
  return approvals.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
}

async function readAsked(
  { sources, record }: RunReading,
  { askedSeq, path }: Instance,
): Promise<ApprovalAsked | QuestionAsked> {
  const [row] = await sources.journal.readEvents(record.no, { afterSeq: askedSeq - 1, limit: 1 });
  if (row?.event.type !== "approvalAsked")
    throw new Error(`Event ${askedSeq} does not ask for the approval "${path}".`);
  return row.event;
}

async function describeApproval(
  reading: RunReading,
  instance: Instance,
  { asked, options }: { readonly asked: ApprovalAsked | QuestionAsked; readonly options: JsonObject },
): Promise<OpenApproval> {
  const { record, history } = reading;
  const load = await readHandles(reading, [instance.askedSeq]);
  const timesOutAt = history.state.timers.get(timerOf(instance, "approval"));
  const terms = termsOf(instance, options);
  const at = { path: instance.path, asked: instance.askedSeq, key: instance.question?.key ?? null };
  return {
    approval_id: `${record.id}:${placeOf(at)}`,
    run_id: record.id,
    workflow_name: record.workflow,
    step_id: instance.step.step.id,
    ...at,
    message: asked.message,
    shown: load(instance.askedSeq),
    since: toIsoTime(asked.at),
    approvers: terms.approvers,
    quorum: terms.quorum,
    approved_by: terms.approvedBy,
    not_by: terms.notBy,
    reminded: terms.reminded,
    escalated_to: terms.escalatedTo,
    terms: tellTerms(terms) || null,
    times_out_at: timesOutAt === undefined ? null : toIsoTime(timesOutAt),
    ...formOf(instance, timesOutAt, "schema" in asked ? asked.schema : undefined),
  };
}

function formOf(
  { question, step: { step } }: Instance,
  timesOutAt: number | undefined,
  form: JsonObject | undefined,
): Pick<OpenApproval, "on_timeout" | "allow_edit" | "schema"> {
  if (step.kind !== "approve")
    return { on_timeout: null, allow_edit: question?.allowEdit === true, schema: form ?? null };
  const { onApprovalTimeout = "abort", allowEdit = false, schema = null } = step;
  return { on_timeout: timesOutAt === undefined ? null : onApprovalTimeout, allow_edit: allowEdit, schema };
}
