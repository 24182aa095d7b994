import type { ApprovalAsked, QuestionAsked } from "../../core/history/events.ts";
import type { Instance } from "../../core/history/run-state.ts";
import { timerOf } from "../../core/interpreter/timers.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { type RunReading, type RunSources, readRunHistory, readValues } from "../runs/describe-run-reading.ts";

/** A question that waits for a person: an approval step's, or one that a task has asked on its way. */
export interface OpenApproval {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly path: string;
  readonly step_id: string;
  /** The event that asked. An answer that names it answers this question and no later one at the path. */
  readonly asked: number;
  /** What the task calls the question; null for an approval step. */
  readonly key: string | null;
  readonly message: string;
  /** What the person is to judge; approved unchanged, it is an approval step's output. */
  readonly shown: Json;
  readonly since: string;
  readonly times_out_at: string | null;
  readonly on_timeout: "abort" | "skip" | null;
  readonly allow_edit: boolean;
  /** JSON Schema that edited data must satisfy. */
  readonly schema: JsonObject | null;
}

/** The open approvals of one run, longest waiting first. */
export async function listApprovals(sources: RunSources, record: RunRecord): Promise<readonly OpenApproval[]> {
  const reading = await readRunHistory(sources, record);
  const approvals: OpenApproval[] = [];
  for (const instance of reading.history.state.active.values()) {
    if (instance.phase !== "approval") continue;
    const asked = await readAsked(sources, record, instance);
    approvals.push(await describeApproval(reading, instance, asked));
  }
  return approvals.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
}

async function readAsked(
  { journal }: RunSources,
  record: RunRecord,
  { askedSeq, path }: Instance,
): Promise<ApprovalAsked | QuestionAsked> {
  const [row] = await journal.readEvents(record.no, { afterSeq: askedSeq - 1, limit: 1 });
  if (row?.event.type !== "approvalAsked")
    throw new Error(`Event ${askedSeq} does not ask for the approval "${path}".`);
  return row.event;
}

async function describeApproval(
  reading: RunReading,
  instance: Instance,
  asked: ApprovalAsked | QuestionAsked,
): Promise<OpenApproval> {
  const { record, history } = reading;
  const values = await readValues(reading, new Set([instance.askedSeq]));
  const timesOutAt = history.state.timers.get(timerOf(instance, "approval"));
  return {
    run_id: record.id,
    workflow_name: record.workflow,
    path: instance.path,
    step_id: instance.step.step.id,
    asked: instance.askedSeq,
    key: instance.question?.key ?? null,
    message: asked.message,
    shown: values.value(instance.askedSeq) ?? null,
    since: toIsoTime(asked.at),
    times_out_at: timesOutAt === undefined ? null : toIsoTime(timesOutAt),
    ...termsOf(instance, timesOutAt),
  };
}

function termsOf(
  { question, step: { step } }: Instance,
  timesOutAt: number | undefined,
): Pick<OpenApproval, "on_timeout" | "allow_edit" | "schema"> {
  if (step.kind !== "approve") return { on_timeout: null, allow_edit: question?.allowEdit === true, schema: null };
  const { onApprovalTimeout = "abort", allowEdit = false, schema = null } = step;
  return { on_timeout: timesOutAt === undefined ? null : onApprovalTimeout, allow_edit: allowEdit, schema };
}
