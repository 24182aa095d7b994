import { toIsoTime } from "../../core/iso-time.ts";
import type { ToldApproval } from "../../hosts/session/approvals/approval-webhooks.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";

/** The webhook about a question. It leaves out the data shown to the person, which may be large and not for every receiver. */
export interface ApprovalRequest {
  readonly event: "approval.requested";
  readonly run_id: string;
  readonly workflow: string;
  readonly status: "awaiting_approval";
  readonly approval: {
    /** The address, as the routes of approvals take it. */
    readonly approval_id: string;
    readonly path: string;
    /** An answer that names it answers this question and no later one at the path. */
    readonly asked: number;
    readonly message: string;
    readonly times_out_at: string | null;
    /** Routes of the service. */
    readonly links: {
      readonly self: string;
      readonly approve: string;
      readonly reject: string;
      readonly skip: string;
      readonly run: string;
    };
  };
  readonly timestamp: string;
}

/** The same text whenever it is asked for: all of it is on record with the question. */
export async function describeApprovalRequest(
  journal: Journal,
  record: RunRecord,
  { asked, timesOutAt }: ToldApproval,
): Promise<ApprovalRequest> {
  const [row] = await journal.readEvents(record.no, { afterSeq: asked - 1, limit: 1 });
  if (row?.event.type !== "approvalAsked") throw new Error(`Event ${asked} of the run ${record.id} asks nothing.`);
  const { path, message, at, attempt } = row.event;
  // Several questions of a task may follow one another at one path.
  const approvalId = `${record.id}:${path}${attempt === undefined ? "" : `@${asked}`}`;
  const self = `/approvals/${encodeURIComponent(approvalId)}`;
  return {
    event: "approval.requested",
    run_id: record.id,
    workflow: record.workflow,
    status: "awaiting_approval",
    approval: {
      approval_id: approvalId,
      path,
      asked,
      message,
      times_out_at: timesOutAt === undefined ? null : toIsoTime(timesOutAt),
      links: {
        self,
        approve: `${self}/approve`,
        reject: `${self}/reject`,
        skip: `${self}/skip`,
        run: `/runs/${record.id}`,
      },
    },
    timestamp: toIsoTime(at),
  };
}
