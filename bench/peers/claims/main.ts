import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import type { Append, Journal, RunNo } from "../../../src/ports/journal.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { percentiles } from "../../service/percentiles.ts";
import { median } from "../../support/compare.ts";
import type { Places } from "../peer.ts";
import { startServers } from "../servers.ts";
import type { Done, WorkerPlaces } from "./worker.ts";

const RUNS = 3_000;
const SINGLES = 150;
const PAUSE_MS = 20;
const rounds = Number(process.argv.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? 3);

type Way = WorkerPlaces["way"];
const WAYS: readonly Way[] = ["postgres", "bullmq"];

/** Claiming runs from PostgreSQL beside a queue of jobs "drive run R", whose worker claims the run's row by its number. */
const servers = await startServers();
try {
  console.log(
    "| workers | claimed by | runs claimed and ended a second | submitted until claimed |\n|---|---|---|---|",
  );
  for (const workers of [1, 2, 4]) {
    const rates = new Map<Way, number[]>(WAYS.map((way) => [way, []]));
    const delays = new Map<Way, number[]>(WAYS.map((way) => [way, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const way of WAYS) {
        const places = await servers.placesFor(`${way}-${workers}-${round}`);
        const { rate, delaysMs } = await measure({ way, workers, places });
        rates.get(way)?.push(rate);
        delays.get(way)?.push(...delaysMs);
      }
    }
    for (const way of WAYS) {
      const shown = (rates.get(way) ?? []).map((rate) => rate.toFixed(0)).join(", ");
      const rate = median(rates.get(way) ?? []).toFixed(0);
      console.log(`| ${workers} | ${way} | ${rate} (${shown}) | ${percentiles(delays.get(way) ?? [])} |`);
    }
  }
  for (const way of WAYS) console.log(await measureFlush(way));
} finally {
  await servers.close();
}

interface Submitter {
  submit(count: number): Promise<readonly RunNo[]>;
  close(): Promise<void>;
}

/** A process that takes requests and drives no runs. */
async function openSubmitter(way: Way, places: Places): Promise<Submitter> {
  const database = new PostgresDatabase({ address: readDatabaseUrl(places.postgresUrl), connections: 4 });
  const journal: Journal = await openPostgresJournal({ database });
  const queue = way === "bullmq" ? new Queue("runs", { connection: { port: places.redisPort } }) : undefined;
  await queue?.waitUntilReady();
  return {
    async submit(count) {
      const numbers = await Promise.all(Array.from({ length: count }, () => journal.reserveRun()));
      await journal.append(numbers.map(toRun), undefined);
      if (queue === undefined) await database.run("NOTIFY pawl");
      else await queue.addBulk(numbers.map((no) => ({ name: "drive", data: { no }, opts: { jobId: `run-${no}` } })));
      return numbers;
    },
    async close() {
      await queue?.close();
      await journal.close();
      await database.close();
    },
  };
}

function toRun(run: RunNo): Append {
  const create = {
    id: randomUUID(),
    workflow: "flow",
    dialect: "sandcastle",
    graph: "g",
    definition: "d",
    createdAt: 1,
  };
  const event = { type: "stepStarted", path: "s", attempt: 1, at: Date.now() } as const;
  return { run, afterSeq: 0, create, events: [{ event }], patch: { status: "running" } };
}

async function startWorkers(way: Way, count: number, { postgresUrl, redisPort }: Places) {
  const told: ((done: Done) => void)[] = [];
  const children = await Promise.all(
    Array.from({ length: count }, async () => {
      const places: WorkerPlaces = { way, postgresUrl, redisPort };
      const child = fork(new URL("./worker.ts", import.meta.url), [JSON.stringify(places)]);
      await once(child, "message");
      child.on("message", (done: Done) => {
        for (const tell of told) tell(done);
      });
      return child;
    }),
  );
  return { children, told, go: () => children.forEach((child) => void child.send("go")) };
}

async function measure({ way, workers, places }: { way: Way; workers: number; places: Places }) {
  await flush(places);
  const submitter = await openSubmitter(way, places);
  const { children, told, go } = await startWorkers(way, workers, places);
  for (let n = 0; n < RUNS; n += 500) await submitter.submit(500);
  const rate = await new Promise<number>((resolve) => {
    const startedAt = performance.now();
    let count = 0;
    told.push((done) => {
      count += done.length;
      if (count === RUNS) resolve((RUNS * 1_000) / (performance.now() - startedAt));
    });
    go();
  });
  const claims = new Map<RunNo, number>();
  told.push((done) => {
    for (const { no, claimedAt } of done) claims.set(no, claimedAt);
  });
  const submissions = new Map<RunNo, number>();
  for (let n = 0; n < SINGLES; n += 1) {
    const at = performance.timeOrigin + performance.now();
    for (const no of await submitter.submit(1)) submissions.set(no, at);
    await setTimeout(PAUSE_MS);
  }
  while (claims.size < SINGLES) await setTimeout(20);
  await end(children);
  await submitter.close();
  return { rate, delaysMs: [...submissions].map(([no, at]) => (claims.get(no) ?? Number.NaN) - at) };
}

/** 1,000 runs are due when Redis forgets everything: how many are claimed in the ten seconds after. */
async function measureFlush(way: Way): Promise<string> {
  const places = await servers.placesFor(`flushed-${way}`);
  const submitter = await openSubmitter(way, places);
  await submitter.submit(1_000);
  await flush(places);
  const { children, go } = await startWorkers(way, 1, places);
  go();
  await setTimeout(10_000);
  const client = new pg.Client({ connectionString: places.postgresUrl });
  await client.connect();
  const { rows } = await client.query("SELECT count(*)::int AS count FROM runs WHERE status = 'completed'");
  await client.end();
  await end(children);
  await submitter.close();
  return `After FLUSHALL ${rows[0].count} of 1,000 due runs are claimed by ${way}.`;
}

async function flush({ redisPort }: Places): Promise<void> {
  const redis = new Redis(redisPort);
  await redis.flushall();
  redis.disconnect();
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
}
