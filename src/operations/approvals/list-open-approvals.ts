import type { Application } from "../application/application.ts";
import { findRun } from "../runs/find-run.ts";
import { listApprovals, type OpenApproval } from "./describe-run-approvals.ts";

const PAGE = 200;

/** Every approval that waits for an answer, of all runs (the newest first) or of the one that is named. */
export async function listOpenApprovals(app: Application, run?: string): Promise<readonly OpenApproval[]> {
  const records = await app.records();
  if (run !== undefined) return listApprovals(records, await findRun(app, run));
  const approvals: OpenApproval[] = [];
  let beforeRun = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const page = await records.journal.listRuns({ hasApprovals: true, beforeRun, limit: PAGE });
    for (const record of page) {
      approvals.push(...(await listApprovals(records, record)));
      beforeRun = record.no;
    }
    if (page.length < PAGE) return approvals;
  }
}
