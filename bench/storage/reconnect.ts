import { setTimeout } from "node:timers/promises";
import { readDatabaseUrl } from "../../src/storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../src/storage/postgres/postgres-database.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { type Comparison, median } from "../support/compare.ts";
import { openNoOpHost, sequence } from "../support/no-op-host.ts";

const OUTAGES_MS = [200, 3_000, 20_000];
/** More than are done in the meantime. */
const STEPS = 200_000;

/** PostgreSQL is ended at once in the middle of a run, and started again: how long after it takes connections a step is recorded. */
export async function benchReconnect(rounds: number): Promise<Comparison[]> {
  const results: Comparison[] = [];
  for (const outageMs of OUTAGES_MS) {
    const tookMs: number[] = [];
    for (let round = 0; round < Math.min(rounds, 5); round += 1) tookMs.push(await measure(outageMs));
    results.push({
      name: `a step is recorded again after ${outageMs / 1_000} s without a server`,
      ...{ floorName: "1,000 ms", floorMs: 1_000, oursMs: median(tookMs), ratio: Math.max(...tookMs) / 1_000 },
      target: 1,
      note: `at most ${Math.max(...tookMs).toFixed(0)} ms of ${tookMs.length}`,
    });
  }
  return results;
}

async function measure(outageMs: number): Promise<number> {
  const server = new PostgresServer();
  await server.start();
  const database = new PostgresDatabase({ address: readDatabaseUrl(server.url("postgres")), connections: 10 });
  const lease = { leaseMs: 8_000, lost: () => undefined, failed: () => undefined };
  const journal = await openPostgresJournal({ database, lease });
  const host = openNoOpHost(journal);
  try {
    const graph = sequence(STEPS);
    const { id } = await host.startRun({ definition: { text: "", graph }, input: {} });
    const nextEvent = () =>
      new Promise<void>((resolve) => {
        const stop = host.watch(id, ({ type }) => {
          if (type !== "event") return;
          stop();
          resolve();
        });
      });
    await nextEvent();
    await server.stop("SIGQUIT");
    await setTimeout(outageMs);
    const recorded = nextEvent();
    await server.start();
    const startedAt = performance.now();
    await recorded;
    return performance.now() - startedAt;
  } finally {
    await host.park(AbortSignal.abort());
    await journal.close();
    await database.close();
    await server.remove();
  }
}
