import { existsSync } from "node:fs";
import pg from "pg";
import { readDatabaseUrl } from "../../src/storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../src/storage/postgres/postgres-database.ts";
import { startPooler } from "../../test/support/pooler.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";
import { openNoOpHost, sequence } from "../support/no-op-host.ts";

const STEPS = 500;
const RUNS = 1_000;
const IN_FLIGHT = 100;
/** Start, four outcomes, end. */
const ROWS_PER_RUN = 6;
const BATCH = 100;

const FLOOR = "CREATE TABLE floor (id BIGSERIAL PRIMARY KEY, type TEXT, path TEXT, at BIGINT, value TEXT)";
const INSERT = "INSERT INTO floor (type, path, at, value) VALUES ($1, $2, $3, $4)";
const INSERT_BATCH = `INSERT INTO floor (type, path, at, value)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])`;
const ROW = ["stepSucceeded", "s123", 1_700_000_000_000, '{"n":1}'];

/** Runs on a PostgreSQL server with `fsync` on, against rows that its usual client writes into the same server. */
export async function benchPostgres(rounds: number): Promise<Comparison[]> {
  const server = new PostgresServer();
  await server.start();
  const direct = await openBench(server.url("postgres"));
  try {
    await direct.floor.query(FLOOR);
    const alone = await compareSequence({ bench: direct, rounds, through: "", target: 1.6 });
    const many = await compare({
      name: `${RUNS.toLocaleString("en")} runs x 4 steps on PostgreSQL, ${IN_FLIGHT} in flight`,
      floorName: `as many event rows in batches of ${BATCH}`,
      target: 2,
      rounds,
      floor: () => timed(() => insertBatches(direct.floor, RUNS * ROWS_PER_RUN)),
      ours: () => timed(() => runMany(direct.run)),
    });
    const stepsPerSecond = Math.round((RUNS * 4 * 1_000) / many.oursMs);
    const note = `${stepsPerSecond.toLocaleString("en")} steps/s`;
    return [alone, { ...many, note }, ...(await throughPooler(server.url("postgres"), rounds))];
  } finally {
    await direct.close();
    await server.remove();
  }
}

/** Nothing where there is no pgbouncer on this machine. */
async function throughPooler(url: string, rounds: number): Promise<Comparison[]> {
  const program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].find(existsSync);
  if (program === undefined) return [];
  const pooler = await startPooler(program, url);
  const bench = await openBench(pooler.url);
  try {
    return [await compareSequence({ bench, rounds, through: ", through pgbouncer", target: 2.5 })];
  } finally {
    await bench.close();
    await pooler.stop();
  }
}

interface Bench {
  readonly floor: pg.Client;
  /** Such a pooler hands sessions around, so that the client cannot name statements. */
  readonly isPooled: boolean;
  run(steps: number): Promise<void>;
  close(): Promise<void>;
}

async function openBench(url: string): Promise<Bench> {
  const floor = new pg.Client({ connectionString: url });
  await floor.connect();
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 10 });
  const failed = (error: unknown) => console.error(error);
  const lease = { leaseMs: 60_000, lost: () => undefined, failed };
  const journal = await openPostgresJournal({ database, lease });
  const host = openNoOpHost(journal);
  return {
    floor,
    isPooled: !new URL(url).searchParams.has("host"),
    async run(steps) {
      const graph = sequence(steps);
      const { id } = await host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
      const { status } = await host.settled(id);
      if (status !== "completed") throw new Error(`The run has ended as ${status}.`);
    },
    async close() {
      await host.park(AbortSignal.abort());
      await journal.close();
      await database.close();
      await floor.end();
    },
  };
}

function compareSequence(options: { bench: Bench; rounds: number; through: string; target: number }) {
  const { bench, rounds, through, target } = options;
  return compare({
    name: `SEQ-${STEPS} on PostgreSQL${through}`,
    floorName: `${STEPS} single-row commits by pg${through}`,
    target,
    rounds,
    floor: () => timed(() => insertRows(bench)),
    ours: () => timed(() => bench.run(STEPS)),
  });
}

async function insertRows({ floor, isPooled }: Bench): Promise<void> {
  const query = isPooled ? { text: INSERT, values: ROW } : { name: "floor", text: INSERT, values: ROW };
  for (let n = 0; n < STEPS; n += 1) await floor.query(query);
}

async function insertBatches(client: pg.Client, rows: number): Promise<void> {
  const columns = ROW.map((value) => Array.from({ length: BATCH }, () => value));
  for (let done = 0; done < rows; done += BATCH) {
    await client.query({ name: "batch", text: INSERT_BATCH, values: columns });
  }
}

async function runMany(run: (steps: number) => Promise<void>): Promise<void> {
  let started = 0;
  const work = async () => {
    while (started < RUNS) {
      started += 1;
      await run(4);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
}
