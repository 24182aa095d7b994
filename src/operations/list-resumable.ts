import { rebuildRun } from "../hosts/local/rebuild-run.ts";
import type { Journal, RunRecord } from "../ports/journal.ts";
import type { Application } from "./application.ts";

type Graphs = Parameters<typeof rebuildRun>[2];

const PAGE = 200;

/** Unfinished runs that have something to do other than to wait for a person or an event. Oldest first. */
export async function listResumable(app: Application): Promise<readonly RunRecord[]> {
  const { journal } = await app.records();
  const graphs: Graphs = new Map();
  const found: RunRecord[] = [];
  let beforeRun = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const status = ["queued", "running", "waiting", "awaiting_approval"] as const;
    const page = await journal.listRuns({ status, beforeRun, limit: PAGE });
    for (const record of page) if (await isResumable(journal, record, graphs)) found.push(record);
    beforeRun = page.at(-1)?.no ?? 0;
    if (page.length < PAGE) return found.reverse();
  }
}

/** Whether a run that sleeps without a time waits for an event or was laid down, only its state tells. */
async function isResumable(journal: Journal, record: RunRecord, graphs: Graphs): Promise<boolean> {
  if (!record.parked || record.wakeAt !== undefined) return true;
  if (record.status !== "waiting") return false;
  const { state } = await rebuildRun(journal, record, graphs);
  return state.isHeld;
}
