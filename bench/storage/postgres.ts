import pg from "pg";
import { readDatabaseUrl } from "../../src/storage/postgres/database-address.ts";
import { PostgresDatabase } from "../../src/storage/postgres/postgres-database.ts";
import { openPostgresJournal } from "../../src/storage/postgres/postgres-journal.ts";
import { PostgresServer } from "../../test/support/postgres-server.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";
import { openNoOpHost, sequence } from "../support/no-op-host.ts";

const STEPS = 500;
const RUNS = 1_000;
const IN_FLIGHT = 100;
/** Start, four outcomes, end. */
const ROWS_PER_RUN = 6;
const BATCH = 100;

const INSERT = "INSERT INTO floor (type, path, at, value) VALUES ($1, $2, $3, $4)";
const INSERT_BATCH = `INSERT INTO floor (type, path, at, value)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[])`;
const ROW = ["stepSucceeded", "s123", 1_700_000_000_000, '{"n":1}'];

/** Runs on a PostgreSQL server with `fsync` on, against rows that its usual client writes into the same server. */
export async function benchPostgres(rounds: number): Promise<Comparison[]> {
  const server = new PostgresServer();
  await server.start();
  const url = server.url("postgres");
  const floor = new pg.Client({ connectionString: url });
  await floor.connect();
  await floor.query("CREATE TABLE floor (id BIGSERIAL PRIMARY KEY, type TEXT, path TEXT, at BIGINT, value TEXT)");
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 10 });
  const failed = (error: unknown) => console.error(error);
  const lease = { leaseMs: 60_000, lost: () => undefined, failed };
  const journal = await openPostgresJournal({ database, lease });
  const host = openNoOpHost(journal);
  const run = async (steps: number) => {
    const graph = sequence(steps);
    const { id } = await host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
    const { status } = await host.settled(id);
    if (status !== "completed") throw new Error(`The run has ended as ${status}.`);
  };
  try {
    const alone = await compare({
      name: `SEQ-${STEPS} on PostgreSQL`,
      floorName: `${STEPS} single-row commits by pg`,
      target: 1.6,
      rounds,
      floor: () => timed(() => insertRows(floor, STEPS)),
      ours: () => timed(() => run(STEPS)),
    });
    const many = await compare({
      name: `${RUNS.toLocaleString("en")} runs x 4 steps on PostgreSQL, ${IN_FLIGHT} in flight`,
      floorName: `as many event rows in batches of ${BATCH}`,
      target: 2,
      rounds,
      floor: () => timed(() => insertBatches(floor, RUNS * ROWS_PER_RUN)),
      ours: () => timed(() => runMany(run)),
    });
    const stepsPerSecond = Math.round((RUNS * 4 * 1_000) / many.oursMs);
    return [alone, { ...many, note: `${stepsPerSecond.toLocaleString("en")} steps/s` }];
  } finally {
    await host.park(AbortSignal.abort());
    await journal.close();
    await database.close();
    await floor.end();
    await server.remove();
  }
}

async function insertRows(client: pg.Client, rows: number): Promise<void> {
  for (let n = 0; n < rows; n += 1) await client.query({ name: "floor", text: INSERT, values: ROW });
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
