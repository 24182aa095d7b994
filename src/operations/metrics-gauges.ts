import type { RunStatus } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import { listOpenApprovals } from "./list-open-approvals.ts";

const UNFINISHED: readonly RunStatus[] = ["queued", "running", "waiting", "awaiting_approval"];
/** To count questions, each run that goes on is read. */
const MOST_RUNS_READ = 500;

/** Runs that have not ended, by status. */
export async function countUnfinishedRuns(app: Application): Promise<ReadonlyMap<string, number>> {
  const { journal } = await app.records();
  const counts = new Map<string, number>();
  for (const status of UNFINISHED) counts.set(status, await journal.countRuns({ status: [status] }));
  return counts;
}

/** Messages to others, by what has become of them. */
export async function countDeliveries(app: Application): Promise<ReadonlyMap<string, number>> {
  const { deliveries } = await app.service();
  const counts = new Map<string, number>();
  for (const status of ["pending", "delivered", "failed", "skipped"] as const) {
    counts.set(status, await deliveries.count({ status: [status] }));
  }
  return counts;
}

/** Questions that wait for a person; nothing where too many runs would have to be read for it. */
export async function countOpenApprovals(app: Application): Promise<ReadonlyMap<string, number>> {
  let unfinished = 0;
  for (const count of (await countUnfinishedRuns(app)).values()) unfinished += count;
  return unfinished > MOST_RUNS_READ ? new Map() : new Map([["", (await listOpenApprovals(app)).length]]);
}
