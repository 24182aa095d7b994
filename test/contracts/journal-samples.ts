import type { Event } from "../../src/core/history/events.ts";
import {
  type Append,
  isBefore,
  type Journal,
  LOG_BEGIN,
  type NewRun,
  type RunNo,
  type RunPatch,
} from "../../src/ports/journal.ts";

export function newRun(id: string, more: Partial<NewRun> = {}): NewRun {
  return { id, workflow: "flow", dialect: "sandcastle", graph: "g1", definition: "d1", createdAt: 1_000, ...more };
}

export function started(path: string, at = 2_000): Event {
  return { type: "stepStarted", path, attempt: 1, at };
}

export function succeeded(path: string, at = 3_000): Event {
  return { type: "stepSucceeded", path, attempt: 1, at, costMicro: 7, inputHash: "h" };
}

export function reserveRuns(journal: Journal, count: number): Promise<RunNo[]> {
  return Promise.all(Array.from({ length: count }, () => journal.reserveRun()));
}

/** Creates a run with `count` events and returns its number. */
export async function createRun(
  journal: Journal,
  id: string,
  options: { readonly count?: number; readonly patch?: RunPatch; readonly more?: Partial<NewRun> } = {},
): Promise<RunNo> {
  const { count = 1, patch, more } = options;
  const run = await journal.reserveRun();
  const events = Array.from({ length: count }, (_, index) => ({ event: started(`step${index + 1}`) }));
  const entry: Append = { run, afterSeq: 0, create: newRun(id, more), events, ...(patch && { patch }) };
  const [result] = await journal.append([entry]);
  if (result?.ok !== true) throw new Error(`The run was not created: ${result?.message}`);
  return run;
}

/** Every path of a run's events, in order, read in slices. */
export async function readPaths(journal: Journal, run: RunNo): Promise<readonly string[]> {
  const paths: string[] = [];
  for (;;) {
    const rows = await journal.readEvents(run, { afterSeq: paths.length, limit: 1_000 });
    if (rows.length === 0) return paths;
    for (const { event } of rows) paths.push("path" in event ? event.path : event.type);
  }
}

/** Every event of all runs, as its run and its number there, read page by page. */
export async function readWholeLog(
  journal: Journal,
  options: { readonly limit: number; readonly tenantId?: string },
): Promise<readonly string[]> {
  const read: string[] = [];
  for (let after = LOG_BEGIN; ; ) {
    const { events, end } = await journal.readLog({ after, ...options });
    for (const { run, seq } of events) read.push(`${run.id}${seq}`);
    if (!isBefore(after, end)) return read;
    after = end;
  }
}
