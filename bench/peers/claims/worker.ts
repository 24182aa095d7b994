import { Worker } from "bullmq";
import type { Append, ClaimedRun, Journal, RunNo } from "../../../src/ports/journal.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { PostgresSignals } from "../../../src/storage/postgres/postgres-signals.ts";

export interface WorkerPlaces {
  readonly way: "postgres" | "bullmq";
  readonly postgresUrl: string;
  readonly redisPort: number;
}

/** Runs that were claimed and ended in one turn, and when each was claimed. */
export type Done = readonly { readonly no: RunNo; readonly claimedAt: number }[];

const AT_ONCE = 50;

const places: WorkerPlaces = JSON.parse(process.argv[2] ?? "{}");
const database = new PostgresDatabase({ address: readDatabaseUrl(places.postgresUrl), connections: 10 });
const failed = (error: unknown) => console.error(error);
const journal = await openPostgresJournal({ database, lease: { leaseMs: 60_000, lost: () => undefined, failed } });

/** Runs that end in one turn share a commit, as in the commit queue. */
const ending: { readonly run: ClaimedRun; readonly claimedAt: number; done(): void }[] = [];

function end(run: ClaimedRun): Promise<void> {
  return new Promise((done) => {
    ending.push({ run, claimedAt: now(), done });
    if (ending.length === 1) setImmediate(() => void commit(journal));
  });
}

async function commit(to: Journal): Promise<void> {
  const group = ending.splice(0);
  const entries = group.map(({ run }): Append => {
    const at = Date.now();
    const event = {
      type: "runFinished",
      at,
      status: "completed",
      costMicro: 0,
    } as unknown as Append["events"][0]["event"];
    return { run: run.no, afterSeq: run.lastSeq, events: [{ event }], patch: { status: "completed", completedAt: at } };
  });
  const results = await to.append(entries, undefined);
  const refused = results.find(({ ok }) => !ok);
  if (refused !== undefined) throw new Error(JSON.stringify(refused));
  process.send?.(group.map(({ run, claimedAt }) => ({ no: run.no, claimedAt })) satisfies Done);
  for (const { done } of group) done();
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function claimFromPostgres(): void {
  let isLooking = false;
  let mustLookAgain = false;
  const look = async () => {
    mustLookAgain = true;
    if (isLooking) return;
    isLooking = true;
    while (mustLookAgain) {
      mustLookAgain = false;
      for (;;) {
        const claimed = await journal.claimDue({ now: Date.now(), afterRun: 0, limit: AT_ONCE });
        await Promise.all(claimed.map(end));
        if (claimed.length < AT_ONCE) break;
      }
    }
    isLooking = false;
  };
  new PostgresSignals(readDatabaseUrl(places.postgresUrl), database).watch(() => void look().catch(failed));
}

/** The row says who drives a run in this way too: a job may be handed out twice. */
function claimFromBullmq(): void {
  const connection = { host: "127.0.0.1", port: places.redisPort, maxRetriesPerRequest: null };
  const drive = async ({ data }: { readonly data: { readonly no: RunNo } }) => {
    const run = await journal.claim(data.no);
    if (run !== undefined) await end(run);
  };
  new Worker("runs", drive, { connection, concurrency: AT_ONCE, removeOnComplete: { count: 0 } });
}

// It keeps the process alive.
process.on("message", () => (places.way === "postgres" ? claimFromPostgres() : claimFromBullmq()));
process.send?.([]);
