import { setTimeout } from "node:timers/promises";
import { type Comparison, median } from "../support/compare.ts";
import { type BenchDatabase, openBenchServer, submit } from "./database.ts";

const STEP_MS = 100;
const STEPS = 10;
const CONCURRENCY = 10;
const WARM_UP_MS = 1_000;
const WINDOW_MS = 10_000;

const FILES = {
  "workflows/waiting.yaml": `name: waiting
steps:
${Array.from({ length: STEPS }, (_, n) => `  - {id: s${n}, prompt: x${n === 0 ? "" : `, depends_on: [s${n - 1}]`}}\n`).join("")}`,
  "answers.yaml": `delay_ms: ${STEP_MS}\n`,
  "pawl.yaml": 'agent: {provider: "simulated:answers.yaml"}\n',
};

/** 1, 2 and 4 workers on steps that wait for 100 ms, against the time that so many places would need without any work between. */
export async function benchWorkers(rounds: number): Promise<Comparison[]> {
  const { openDatabase, close } = await openBenchServer();
  const results: Comparison[] = [];
  try {
    for (const workers of [1, 2, 4]) {
      const shares: number[] = [];
      for (let round = 0; round < Math.min(rounds, 3); round += 1) {
        const database = await openDatabase(`w${workers}_${round}`, FILES);
        shares.push(await measure(database, workers));
      }
      const ideal = idealOf(workers);
      const share = median(shares);
      results.push({
        name: `${workers} workers, ${CONCURRENCY} runs each, of steps that wait ${STEP_MS} ms`,
        ...{ floorName: `${ideal} steps a second`, floorMs: STEP_MS, oursMs: STEP_MS / share, ratio: 1 / share },
        target: 1 / 0.95,
        note: `of ideal: ${shares.map((each) => `${(each * 100).toFixed(1)} %`).join(", ")}`,
      });
    }
  } finally {
    await close();
  }
  return results;
}

/** Steps a second of so many workers that could do `ideal`. */
export async function measureThroughput(
  workers: number,
): Promise<{ readonly perSecond: number; readonly ideal: number }> {
  const { openDatabase, close } = await openBenchServer();
  try {
    const ideal = idealOf(workers);
    return { ideal, perSecond: ideal * (await measure(await openDatabase("one", FILES), workers)) };
  } finally {
    await close();
  }
}

function idealOf(workers: number): number {
  return workers * CONCURRENCY * (1_000 / STEP_MS);
}

/** How much of the ideal the workers reach while there is always more to do. */
async function measure({ client, start }: BenchDatabase, workers: number): Promise<number> {
  const places = workers * CONCURRENCY;
  // Twice as many as can be done: a worker starts sooner than another one.
  const runs = 2 * Math.ceil((places * (WARM_UP_MS + WINDOW_MS)) / STEP_MS / STEPS);
  const api = await start("serve", "--role", "api");
  for (let n = 0; n < runs; n += 50) await Promise.all(Array.from({ length: 50 }, () => submit(api, "waiting")));
  await api.stop();
  const started = await Promise.all(
    Array.from({ length: workers }, () => start("worker", "--concurrency", String(CONCURRENCY))),
  );
  const count = async () => {
    const { rows } = await client.query("SELECT count(*)::int AS count FROM events WHERE type = 'stepSucceeded'");
    return rows[0].count;
  };
  await setTimeout(WARM_UP_MS);
  const [before, startedAt] = [await count(), performance.now()];
  await setTimeout(WINDOW_MS);
  const done = (await count()) - before;
  const ideal = (places * (performance.now() - startedAt)) / STEP_MS;
  await Promise.all(started.map((worker) => worker.stop()));
  await client.end();
  return done / ideal;
}
