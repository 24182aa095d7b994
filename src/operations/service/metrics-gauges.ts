import { UNFINISHED_STATUSES } from "../../ports/journal.ts";
import type { Stores } from "../application/ports.ts";

/** Runs that have not ended, by status. */
export async function countUnfinishedRuns(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { journal } = await app.records();
  const counts = new Map<string, number>();
  for (const status of UNFINISHED_STATUSES) counts.set(status, await journal.countRuns({ status: [status] }));
  return counts;
}

/** Messages to others, by what has become of them. */
export async function countDeliveries(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { deliveries } = await app.service();
  const counts = new Map<string, number>();
  for (const status of ["pending", "delivered", "failed", "skipped"] as const) {
    counts.set(status, await deliveries.count({ status: [status] }));
  }
  return counts;
}

/** Questions that wait for a person: each run's row says how many. */
export async function countOpenApprovals(app: Stores): Promise<ReadonlyMap<string, number>> {
  const { journal } = await app.records();
  return new Map([["", await journal.countApprovals()]]);
}
