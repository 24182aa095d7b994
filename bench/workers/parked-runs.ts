import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import { SEQ_RANGE } from "../../src/storage/sql/run-row.ts";
import { percentiles } from "../service/percentiles.ts";
import type { ServerProcess } from "../service/server-process.ts";
import { type Comparison, compare, median } from "../support/compare.ts";
import { type BenchDatabase, openBenchServer, submit } from "./database.ts";

const RUNS = 1_000_000;
const CLAIMING_MS = 30_000;
/** In which a worker that is ready looks for what is due. */
const SETTLING_MS = 5_000;
/** So many become due, and so many are answered, one after the other. */
const WAKE_UPS = 10;
const JSON_BODY = { "content-type": "application/json" };

const FILES = {
  "workflows/asking.yaml": `name: asking
steps:
  - {id: draft, prompt: Write something.}
  - {id: look, type: approval, depends_on: [draft], approval_config: {message: Is it good?}}
  - {id: done, prompt: Send it., depends_on: [look]}
`,
  "workflows/sleeping.yaml": `name: sleeping
steps:
  - {id: rest, type: wait, duration: 100d}
  - {id: done, prompt: Go on., depends_on: [rest]}
`,
  "answers.yaml": "delay_ms: 0\n",
  "pawl.yaml": 'agent: {provider: "simulated:answers.yaml"}\n',
};

/** A worker starts and works beside a million runs that wait for people and for timers; it starts beside two, too. */
export async function benchParkedRuns(rounds: number): Promise<Comparison[]> {
  const { openDatabase, close } = await openBenchServer();
  try {
    const few = await openDatabase("few", FILES);
    await park(few);
    await few.client.end();
    const many = await openDatabase("many", FILES, "few");
    await fill(many.client);
    const timeStart = async ({ start }: BenchDatabase) => {
      const worker = await start("worker");
      await worker.stop();
      return worker.readyMs;
    };
    const name = `a worker starts beside ${RUNS.toLocaleString("en")} parked runs`;
    const floorName = "beside two";
    const starting = await compare({
      ...{ name, floorName, rounds },
      floor: () => timeStart(few),
      ours: () => timeStart(many),
    });
    const { memory, due, approved } = await work(many);
    const note = `${starting.oursMs < 1_000 ? "under" : "over"} 1,000 ms; ${memory}`;
    return [{ ...starting, note }, toRow("becomes due", due), toRow("is approved at another process", approved)];
  } finally {
    await close();
  }
}

/** Resident memory of a worker that is ready, in MB, beside so many parked runs. */
export async function measureMemory(counts: readonly number[]): Promise<readonly number[]> {
  const { openDatabase, close } = await openBenchServer();
  try {
    const few = await openDatabase("few", FILES);
    await park(few);
    await few.client.end();
    const resident: number[] = [];
    for (const count of counts) {
      const { client, start } = await openDatabase(`beside_${count}`, FILES, "few");
      await fill(client, count);
      const worker = await start("worker");
      await setTimeout(SETTLING_MS);
      resident.push(worker.residentMb());
      await worker.stop();
    }
    return resident;
  } finally {
    await close();
  }
}

function toRow(what: string, tookMs: readonly number[]): Comparison {
  const none = { floorName: "", floorMs: Number.NaN, ratio: Number.NaN };
  return { name: `one of them ${what} and ends`, ...none, oursMs: median(tookMs), note: percentiles(tookMs) };
}

/** One run of each workflow, as real ones are parked. */
async function park({ client, start }: BenchDatabase): Promise<void> {
  const server = await start("serve");
  for (const workflow of ["asking", "sleeping"]) await submit(server, workflow);
  while ((await countParked(client)) < 2) await setTimeout(50);
  await server.stop();
}

/** Half a minute of a worker's life, in which some become due and some are answered. */
async function work({ client, start }: BenchDatabase) {
  const [worker, api] = await Promise.all([start("worker"), start("serve", "--role", "api")]);
  const readyMb = worker.residentMb();
  const startedAt = performance.now();
  const due = await wakeSome(client, "sleeping", (run) => becomeDue(client, run));
  const approved = await wakeSome(client, "asking", (run) => approve(api, run));
  await setTimeout(Math.max(0, CLAIMING_MS - (performance.now() - startedAt)));
  const memory = `${readyMb.toFixed(0)} MB when it is ready, ${worker.residentMb().toFixed(0)} MB after 30 s`;
  await Promise.all([worker.stop(), api.stop()]);
  return { memory, due, approved };
}

async function countParked(client: pg.Client): Promise<number> {
  const { rows } = await client.query("SELECT count(*)::int AS count FROM runs WHERE parked = 1 AND owner IS NULL");
  return rows[0].count;
}

/** Copies of the two runs that are there, which wait alike. Timers end one after the other, none soon. */
async function fill(client: pg.Client, runs = RUNS): Promise<void> {
  const { rows } = await client.query("SELECT no FROM runs ORDER BY no");
  const columns = `workflow_name, dialect, graph, definition, status, parked, cost_micro, uncertain_micro, open_approvals,
    created_at, started_at, completed_at, error, parent_run_id, tenant_id, callback_url, epoch, owner, lost_at`;
  const half = runs / 2;
  for (const [index, { no }] of rows.entries()) {
    const numbers = `(SELECT n * 2 + ${index} + 1000 AS no FROM generate_series(1::bigint, ${half}) AS n) AS copy`;
    await client.query(`INSERT INTO runs (no, id, wake_at, ${columns})
      SELECT copy.no, '019a0000-0000-7000-8000-' || lpad(to_hex(copy.no), 12, '0'), wake_at + copy.no * 1000,
        ${columns} FROM runs, ${numbers} WHERE runs.no = ${no}`);
    await client.query(`INSERT INTO events (id, type, path, attempt, at, cost_micro, body, value)
      SELECT copy.no * ${SEQ_RANGE} + events.id % ${SEQ_RANGE}, type, path, attempt, at + copy.no * 1000, cost_micro, body, value
      FROM events, ${numbers} WHERE events.id / ${SEQ_RANGE} = ${no}`);
  }
  await client.query(`SELECT setval('run_numbers', ${runs + 2_000})`);
  await client.query("VACUUM ANALYZE");
}

/** How long it takes from the wake-up of a run, somewhere among the others, until it has ended, in milliseconds. */
async function wakeSome(
  client: pg.Client,
  workflow: string,
  wake: (run: { readonly no: number; readonly id: string }) => Promise<unknown>,
): Promise<readonly number[]> {
  const tookMs: number[] = [];
  for (let n = 1; n <= WAKE_UPS; n += 1) {
    const text = "SELECT no, id FROM runs WHERE workflow_name = $1 AND no >= $2 AND parked = 1 ORDER BY no LIMIT 1";
    const { rows } = await client.query(text, [workflow, Math.floor((n * RUNS) / (WAKE_UPS + 1))]);
    const startedAt = performance.now();
    await wake(rows[0]);
    for (;;) {
      const { rows: found } = await client.query("SELECT status FROM runs WHERE no = $1", [rows[0].no]);
      if (found[0].status === "completed") break;
      await setTimeout(2);
    }
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs;
}

/** As if it had begun earlier, so that its time has come. */
async function becomeDue(client: pg.Client, { no }: { readonly no: number }): Promise<void> {
  const early = `(SELECT wake_at - ${Date.now()} FROM runs WHERE no = $1)`;
  await client.query(
    `UPDATE events SET at = at - ${early} WHERE id > $1::bigint * ${SEQ_RANGE} AND id < ($1::bigint + 1) * ${SEQ_RANGE}`,
    [no],
  );
  await client.query("UPDATE runs SET wake_at = $2 WHERE no = $1", [no, Date.now()]);
}

async function approve({ url }: ServerProcess, { id }: { readonly id: string }): Promise<void> {
  const response = await fetch(`${url}/approvals/${id}:look/approve`, {
    method: "POST",
    headers: JSON_BODY,
    body: "{}",
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}
