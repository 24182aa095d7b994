import { type Comparison, compare } from "../support/compare.ts";
import { MIB } from "../support/heap-mib.ts";
import { FILES } from "./files.ts";
import { percentiles } from "./percentiles.ts";
import { postAll } from "./raw-client.ts";
import { ServerProcess } from "./server-process.ts";
import { followStream } from "./stream-reader.ts";

const SYNC = 200;
const RUNS = 2_000;
const SUBMISSIONS = { path: "/workflows/run", count: RUNS, atOnce: 100, status: 202 };
const READERS = 100;

/** A server under load: what is lost is an error, what is slow is a figure. */
export async function benchLoad(rounds: number): Promise<Comparison[]> {
  const [floor, pawl] = await Promise.all([ServerProcess.floor(), ServerProcess.pawl(FILES)]);
  try {
    return [await benchSync(rounds, floor, pawl), await benchReaders(rounds, floor, pawl)];
  } finally {
    await Promise.all([floor.stop(), pawl.stop()]);
  }
}

/** 200 callers at once, each of whom waits for the result of a run of one step. */
async function benchSync(rounds: number, floor: ServerProcess, pawl: ServerProcess): Promise<Comparison> {
  const latenciesMs: number[] = [];
  const body = (n: number) => JSON.stringify({ workflow: "step", input: { n } });
  const comparison = await compare({
    name: `${SYNC} runs at once, each waited for (POST /workflows/run/sync)`,
    floorName: "as many durable rows by bare Hono",
    rounds,
    floor: async () =>
      (await postAll(floor.url, { path: "/workflows/run", count: SYNC, atOnce: SYNC, body, status: 202 })).tookMs,
    ours: async () => {
      const posted = await postAll(pawl.url, {
        path: "/workflows/run/sync",
        count: SYNC,
        atOnce: SYNC,
        body,
        status: 200,
      });
      const completed = posted.bodies.filter((text) => text.includes('"status":"completed"'));
      if (completed.length !== SYNC) throw new Error(`${completed.length} of ${SYNC} runs have completed.`);
      latenciesMs.push(...posted.latenciesMs);
      return posted.tookMs;
    },
  });
  return { ...comparison, note: `answers ${percentiles(latenciesMs)}; all completed` };
}

/** Runs are submitted as fast as they are taken; each is followed to its end by one of the readers. */
async function benchReaders(rounds: number, floor: ServerProcess, pawl: ServerProcess): Promise<Comparison> {
  const submitMs: number[] = [];
  const delayMs: number[] = [];
  const memory: { heapMib: number; rssMib: number }[] = [];
  const body = (n: number) => JSON.stringify({ workflow: "moment", input: { n } });
  const comparison = await compare({
    name: `${RUNS} submissions while ${READERS} readers follow runs`,
    floorName: "as many durable rows by bare Hono, nobody reads",
    rounds,
    floor: async () => (await postAll(floor.url, { ...SUBMISSIONS, body })).tookMs,
    ours: async () => {
      const accepted = new Accepted();
      const following = Promise.all(Array.from({ length: READERS }, () => followAll(pawl.url, { accepted, delayMs })));
      const posted = await postAll(pawl.url, {
        ...SUBMISSIONS,
        body,
        answered: (text) => accepted.push(JSON.parse(text).data.run_id),
      });
      accepted.close();
      await following;
      submitMs.push(...posted.latenciesMs);
      if (new Set(accepted.all).size !== RUNS) throw new Error(`${accepted.all.length} runs have been accepted.`);
      const { heapUsed, rss } = await pawl.usage("memory");
      memory.push({ heapMib: heapUsed / MIB, rssMib: rss / MIB });
      return posted.tookMs;
    },
  });
  const heap = memory.map(({ heapMib }) => heapMib.toFixed(1)).join(", ");
  const slope = slopeOf(memory.slice(1).map(({ heapMib }) => heapMib)) / (RUNS / 1_000);
  const rss = memory.at(-1)?.rssMib.toFixed(0);
  const note =
    `submit ${percentiles(submitMs)}; events late by ${percentiles(delayMs)}; every run ended, every event once; ` +
    `heap after each round ${heap} MiB, ${slope.toFixed(2)} MiB per 1,000 runs, ${rss} MiB resident`;
  return { ...comparison, note };
}

/** Follows runs until there are no more; each is read again afterwards, and must be told the same. */
async function followAll(url: string, { accepted, delayMs }: { accepted: Accepted; delayMs: number[] }): Promise<void> {
  for (let runId = await accepted.next(); runId !== undefined; runId = await accepted.next()) {
    const live = await followStream(url, runId);
    const again = await followStream(url, runId);
    if (live.ids.length < 4 || live.ids.join() !== again.ids.join()) {
      throw new Error(`${runId}: told live ${live.ids.join(" ")}, recorded ${again.ids.join(" ")}`);
    }
    const response = await fetch(`${url}/runs/${runId}?outputs=false&prompts=false`);
    const { data } = (await response.json()) as { data: { status: string; completed_at: string } };
    if (data.status !== "completed") throw new Error(`${runId} is ${data.status}.`);
    const completedAt = Date.parse(data.completed_at);
    // With what had happened before somebody looked nobody was late.
    if (completedAt > live.openedAt) delayMs.push(Math.max(0, live.endedAt - completedAt));
  }
}

/** Ids on their way from those who submit to those who follow. */
class Accepted {
  readonly all: string[] = [];
  readonly #waiting: ((id: string | undefined) => void)[] = [];
  #taken = 0;
  #isClosed = false;

  push(id: string): void {
    this.all.push(id);
    if (this.#waiting.length === 0) return;
    this.#taken += 1;
    this.#waiting.shift()?.(id);
  }

  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting) resolve(undefined);
  }

  async next(): Promise<string | undefined> {
    const id = this.all[this.#taken];
    if (id !== undefined) {
      this.#taken += 1;
      return id;
    }
    return this.#isClosed ? undefined : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** By least squares, per round. */
function slopeOf(values: readonly number[]): number {
  const mean = (values.length - 1) / 2;
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  const along = values.reduce((sum, value, n) => sum + (n - mean) * (value - average), 0);
  const width = values.reduce((sum, _, n) => sum + (n - mean) ** 2, 0);
  return width === 0 ? 0 : along / width;
}
