import { percentile } from "../service/percentiles.ts";
import type { ServerProcess } from "../service/server-process.ts";
import type { Comparison } from "../support/compare.ts";
import { openBenchServer, submit } from "./database.ts";

const RUNS = 200;
const WANTED_MS = 100;

const FILES = {
  "workflows/slow.yaml": "name: slow\nsteps:\n  - {id: work, prompt: x}\n",
  "workflows/ask.yaml": `name: ask
steps:
  - {id: gate, type: approval, approval_config: {message: "Go on?"}}
`,
  "answers.yaml": "delay_ms: 600000\n",
  "pawl.yaml": 'agent: {provider: "simulated:answers.yaml"}\nserver: {rate_limit_per_minute: 0}\n',
};

/** Requests that a process takes which drives no runs, until their answer: of runs under way in a worker, and of parked ones. */
export async function benchRequests(): Promise<Comparison[]> {
  const { openDatabase, close } = await openBenchServer();
  try {
    const { start, client } = await openDatabase("requests", FILES);
    const worker = await start("worker", "--concurrency", String(RUNS * 2));
    const api = await start("serve", "--role", "api");
    const slow = await begin(api, "slow", "running");
    const cancels = await timeEach(slow, (id) => post(api, `/runs/${id}/cancel`));
    const asking = await begin(api, "ask", "awaiting_approval");
    const answers = await timeEach(asking, (id) => post(api, `/approvals/${encodeURIComponent(`${id}:gate`)}/approve`));
    await api.stop();
    await worker.stop();
    await client.end();
    return [toRow("cancels of runs in a worker", cancels), toRow("answers to parked runs", answers)];
  } finally {
    await close();
  }
}

async function begin(api: ServerProcess, workflow: string, status: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < RUNS; n += 20)
    ids.push(...(await Promise.all(Array.from({ length: 20 }, () => submit(api, workflow)))));
  for (const id of ids) while ((await statusOf(api, id)) !== status);
  return ids;
}

async function statusOf({ url }: ServerProcess, id: string): Promise<string> {
  const { data } = (await (await fetch(`${url}/runs/${id}`)).json()) as { readonly data: { readonly status: string } };
  return data.status;
}

async function post({ url }: ServerProcess, path: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: "{}" });
  if (!answer.ok) throw new Error(await answer.text());
}

async function timeEach(ids: readonly string[], act: (id: string) => Promise<void>): Promise<readonly number[]> {
  const times: number[] = [];
  for (const id of ids) {
    const from = performance.now();
    await act(id);
    times.push(performance.now() - from);
  }
  return times;
}

function toRow(what: string, times: readonly number[]): Comparison {
  const p99 = percentile(times, 0.99);
  return {
    name: `p99 of ${RUNS} ${what}, asked of a process that drives none`,
    floorName: `${WANTED_MS} ms`,
    floorMs: WANTED_MS,
    oursMs: p99,
    ratio: p99 / WANTED_MS,
    target: 1,
    note: `median ${percentile(times, 0.5).toFixed(1)} ms`,
  };
}
