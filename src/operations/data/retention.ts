import { setTimeout } from "node:timers/promises";
import type { Settings } from "../../config/settings.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { type Journal, RUN_STATUSES, type RunNo, type RunRecord, type RunStatus } from "../../ports/journal.ts";
import type { Log } from "../../ports/log.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Driving, Place, Stores } from "../application/ports.ts";
import { eachRun } from "../runs/each-event.ts";
import { removeEnded } from "../runs/remove-ended.ts";

type Keep = Settings["data"]["keep"];

/** Which runs stay that have ended with one of these statuses. */
interface KeepRule {
  readonly statuses: readonly RunStatus[];
  readonly days?: number | undefined;
  readonly runs?: number | undefined;
}

const ENDED = ["completed", "partial", "failed", "cancelled", "budget_exceeded"] as const satisfies RunStatus[];

/** What has to be told of a run after its end. Dead letters are no such thing: they go with their run. */
const TOLD_AFTER_THE_END = ["storage", "webhook", "notify"];

const DAY_MS = 86_400_000;
const PAGE = 500;
const SWEEP_EVERY_MS = 10_000;

type RemovedRuns = Readonly<Partial<Record<RunStatus, number>>>;

/**
 * Deletes the ended runs that `data.keep` does not keep, oldest first, at most half of the time. `onlyLooks`: it counts them.
 * Runs stay that an unfinished rerun needs, or whose files and webhooks are still to be sent.
 */
export async function removeOldRuns(
  app: Place & Stores & Driving,
  { onlyLooks, signal }: { readonly onlyLooks: boolean; readonly signal?: AbortSignal },
): Promise<RemovedRuns> {
  const rules = toRules(app.config.settings.data.keep);
  const removed: Partial<Record<RunStatus, number>> = {};
  if (rules.length === 0) return removed;
  const untold = await findUntold(app);
  const repeated = await findRepeated(app);
  for (const rule of rules) {
    for await (const run of findOld(app, rule)) {
      if (signal?.aborted === true) return removed;
      if (untold.has(run.no) || repeated.has(run.id)) continue;
      if (onlyLooks || (await removeAndRest(app, run.id))) removed[run.status] = (removed[run.status] ?? 0) + 1;
    }
  }
  return removed;
}

/** Deletes old runs now and then until it is stopped, which resolves when nothing is being deleted any more. */
export function startRetention(app: Place & Stores & Driving, log: Log): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  let trouble: string | undefined;
  const sweep = async () => {
    try {
      const removed = await removeOldRuns(app, { onlyLooks: false, signal });
      const count = countRemoved(removed);
      if (count > 0) log.write("info", `data.keep: deleted ${count} runs`, { ...removed });
      trouble = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== trouble && !signal.aborted) log.write("warn", `data.keep: nothing is deleted now: ${message}`);
      trouble = message;
    }
  };
  const sweepAll = async () => {
    while (!signal.aborted) {
      await sweep();
      await setTimeout(SWEEP_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const over = toRules(app.config.settings.data.keep).length === 0 ? Promise.resolve() : sweepAll();
  return () => {
    stop.abort();
    return over;
  };
}

export function countRemoved(removed: RemovedRuns): number {
  return Object.values(removed).reduce((sum, count) => sum + count, 0);
}

/** A status with a rule of its own follows that one alone. All others share the general one. */
function toRules({ days, runs, ...own }: Keep): readonly KeepRule[] {
  const rules: KeepRule[] = ENDED.flatMap((status) => {
    const rule = own[status];
    return rule === undefined ? [] : [{ statuses: [status], ...rule }];
  });
  const others = ENDED.filter((status) => own[status] === undefined);
  return days === undefined && runs === undefined ? rules : [...rules, { statuses: others, days, runs }];
}

/** Oldest first. A run begins before it ends, and numbers follow the begins: what began after the last day to go is young. */
async function* findOld(app: Place & Stores, { statuses, days, runs }: KeepRule): AsyncGenerator<RunRecord> {
  const firstKept = days === undefined ? Number.NEGATIVE_INFINITY : app.clock.now() - days * DAY_MS;
  let excess = runs === undefined ? 0 : (await (await journalOf(app)).countRuns({ status: statuses })) - runs;
  for await (const run of oldestFirst(app, statuses)) {
    if (excess <= 0 && run.createdAt >= firstKept) return;
    if (excess > 0 || (run.completedAt ?? firstKept) < firstKept) yield run;
    excess -= 1;
  }
}

function oldestFirst(app: Stores, status: readonly RunStatus[]): AsyncGenerator<RunRecord> {
  return eachRun({ listRuns: async (filter) => (await journalOf(app)).listRuns(filter) }, { status, afterRun: 0 });
}

/** Runs that an unfinished one repeats. What begins to repeat one later is found when that is deleted. */
async function findRepeated(app: Stores): Promise<ReadonlySet<string>> {
  const repeated = new Set<string>();
  const unfinished = RUN_STATUSES.filter((each) => !ENDED.some((ended) => ended === each));
  for await (const { parentRunId } of oldestFirst(app, unfinished)) {
    if (parentRunId !== undefined) repeated.add(parentRunId);
  }
  return repeated;
}

async function findUntold(app: Stores): Promise<ReadonlySet<unknown>> {
  const untold = new Set<RunNo>();
  for (const kind of TOLD_AFTER_THE_END) {
    for (let afterId = 0; ; ) {
      const journal = await journalOf(app);
      const page = await journal.readOutbox({ kind, afterId, limit: PAGE });
      for (const { run } of page) untold.add(run);
      if (page.length < PAGE) break;
      afterId = page.at(-1)?.id ?? afterId;
      await passTurn();
    }
  }
  return untold;
}

/** False: someone else was faster, or begins to repeat the run. Rests as long as the deletion took, for the sake of others. */
async function removeAndRest(app: Stores & Driving, runId: string): Promise<boolean> {
  const begunAt = performance.now();
  try {
    await removeEnded(app, runId);
  } catch (error) {
    if (isPawlError(error) && (error.code === "RUN_NEEDED" || error.code === "RUN_NOT_FOUND")) return false;
    throw error;
  }
  await setTimeout(performance.now() - begunAt);
  return true;
}

/** Asked for each time: a process that begins to own the data, for a deletion, reads through another one from then on. */
async function journalOf(app: Stores): Promise<Journal> {
  return (await app.records()).journal;
}
