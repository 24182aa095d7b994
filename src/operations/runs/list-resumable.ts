import type { RunRecord } from "../../ports/journal.ts";
import type { Application } from "../application/application.ts";
import { findAwaited } from "./find-awaited.ts";

type Graphs = Parameters<typeof findAwaited>[2];

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
    for (const record of page) if (await isResumable(app, record, graphs)) found.push(record);
    beforeRun = page.at(-1)?.no ?? 0;
    if (page.length < PAGE) return found.reverse();
  }
}

async function isResumable(app: Application, record: RunRecord, graphs: Graphs): Promise<boolean> {
  if (!record.parked) return true;
  if (record.status !== "waiting") return record.wakeAt !== undefined;
  const { isHeld, isOthers } = await findAwaited(app, record, graphs);
  return isHeld || !isOthers;
}
