import type { Browser } from "playwright-core";
import { percentile } from "../service/percentiles.ts";
import { postAll } from "../service/raw-client.ts";
import { ServerProcess } from "../service/server-process.ts";
import type { Figure } from "./figure.ts";
import { MeasuredPage } from "./measured-page.ts";
import { postRun, runEnd } from "./post-run.ts";

/** Ten events a second for an hour are 36,000: each of these tells of its start, its step and its end. */
const RUNS = 12_000;
const ITEMS = 12_000;

const FILES = {
  "workflows/step.yaml": 'name: step\nsteps:\n  - {id: answer, prompt: "{input.n}"}\n',
  "workflows/wide.yaml": `name: wide
steps:
  - { id: answer, prompt: "{input.n}", parallel_over: input.items, max_concurrent: 100 }
`,
  "answers.yaml": 'steps: { answer: { reply: "42", delay_ms: 1, cost_usd: 0.01 } }\n',
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\nserver: { max_in_flight: 500 }\n',
};

/** What an hour of events, told as fast as they come, leaves in the memory of a page: the list, and the page of a run. */
export async function benchHourOnPage(browser: Browser): Promise<Figure[]> {
  const server = await ServerProcess.pawl(FILES);
  try {
    return [...(await benchList(browser, server.url)), ...(await benchRun(browser, server.url))];
  } finally {
    await server.stop();
  }
}

async function benchList(browser: Browser, url: string): Promise<Figure[]> {
  const post = (count: number) =>
    postAll(url, {
      ...{ path: "/workflows/run", count, atOnce: 50, status: 202 },
      body: (n) => JSON.stringify({ workflow: "step", input: { n } }),
    });
  await post(200);
  const measured = await MeasuredPage.open(browser, `${url}/ui/runs`);
  await measured.rowMs();
  const hour = async () => {
    const told = countTold(url);
    await post(RUNS);
    const count = await told.atLeast(3 * RUNS);
    return `${RUNS.toLocaleString("en")} runs, ${count.toLocaleString("en")} events`;
  };
  const figures = await figuresOf("the list", measured, hour);
  await hour();
  const after = { name: "the same after a second hour", measured: await measured.heapMb(), unit: "MB" } as const;
  await measured.close();
  return [...figures, after];
}

async function benchRun(browser: Browser, url: string): Promise<Figure[]> {
  const items = Array.from({ length: ITEMS }, (_, n) => ({ n }));
  const id = await postRun(url, "wide", { items });
  const measured = await MeasuredPage.open(browser, `${url}/ui/runs/${id}`);
  await measured.page.getByRole("button", { name: "Items of answer" }).click();
  await measured.page.getByRole("button", { name: "answer[0]" }).waitFor();
  const figures = await figuresOf("a run with its fan-out open", measured, async () => {
    await runEnd(url, id);
    await measured.page.locator("header").getByText("completed").waitFor();
    return `${ITEMS.toLocaleString("en")} items`;
  });
  await measured.close();
  return figures;
}

async function figuresOf(what: string, measured: MeasuredPage, work: () => Promise<string>): Promise<Figure[]> {
  const before = await measured.heapMb();
  const startedAt = performance.now();
  let note = "";
  const frames = await measured.frameTimes(async () => {
    note = await work();
  });
  const tookS = (performance.now() - startedAt) / 1_000;
  const after = await measured.heapMb();
  return [
    {
      ...{ name: `memory of ${what} after an hour of events`, measured: after, unit: "MB" },
      note: `${before.toFixed(1)} MB at the start; ${note} in ${tookS.toFixed(0)} s`,
    },
    {
      ...{ name: "frame meanwhile, p95", measured: percentile(frames, 0.95), unit: "ms" },
      note: `p99 ${percentile(frames, 0.99).toFixed(0)}, the longest ${Math.max(...frames).toFixed(0)} ms`,
    },
  ];
}

/** What the feed tells anybody, from now on. */
function countTold(url: string): { atLeast(count: number): Promise<number> } {
  let told = 0;
  const stop = new AbortController();
  const read = async () => {
    const { body } = await fetch(`${url}/events`, { signal: stop.signal });
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) told += decoder.decode(chunk, { stream: true }).split("\nid: ").length - 1;
  };
  const reading = read().catch(() => undefined);
  return {
    async atLeast(count) {
      while (told < count) await new Promise((resolve) => setTimeout(resolve, 50));
      stop.abort();
      await reading;
      return told;
    },
  };
}
