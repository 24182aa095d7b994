import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { fillJournal } from "../../test/support/fill-journal.ts";
import { percentile } from "../service/percentiles.ts";
import { ServerProcess } from "../service/server-process.ts";
import { median } from "../support/compare.ts";
import { fanOut, openNoOpHost, sequence } from "../support/no-op-host.ts";
import type { Figure } from "./figure.ts";
import { MeasuredPage } from "./measured-page.ts";

const RUNS = 100_000;
const OPENED = 7;

/** The list of 100,000 runs: how soon it is there, and how it scrolls from its beginning to its end. */
export async function benchManyRunsOnPage(browser: Browser): Promise<Figure[]> {
  const server = await ServerProcess.pawl({}, fill);
  try {
    const openedMs: number[] = [];
    for (let nth = 0; nth < OPENED; nth += 1) openedMs.push(await timeToList(browser, `${server.url}/ui/runs`));
    const note = `median of ${OPENED} cold pages, the slowest ${Math.max(...openedMs).toFixed(0)} ms`;
    const name = `from navigation to the list, ${RUNS.toLocaleString("en")} runs`;
    return [
      { name, measured: median(openedMs), unit: "ms", atMost: 1_000, note },
      ...(await scrollThrough(browser, `${server.url}/ui/runs`)),
    ];
  } finally {
    await server.stop();
  }
}

async function fill(folder: string): Promise<void> {
  mkdirSync(join(folder, ".pawl"));
  const journal = openSqliteJournal({ path: join(folder, ".pawl", "pawl.db"), durability: "process" });
  const host = openNoOpHost(journal);
  for (const graph of [sequence(3), fanOut(20)]) {
    const { id } = await host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
    await host.settled(id);
  }
  await fillJournal(journal, { runs: RUNS, now: Date.now() });
  await journal.close();
}

async function timeToList(browser: Browser, url: string): Promise<number> {
  const measured = await MeasuredPage.open(browser, url);
  const rowMs = await measured.rowMs();
  await measured.close();
  return rowMs;
}

/** Down by three screens a frame, as somebody does who holds the key, until the list does not grow any more. */
const SCROLL = `new Promise((done) => {
  const list = document.querySelector('[role="list"][aria-label="Runs"]');
  let stood = 0;
  const step = () => {
    const before = list.scrollTop;
    list.scrollTop += 3 * list.clientHeight;
    stood = list.scrollTop === before ? stood + 1 : 0;
    if (stood < 180) requestAnimationFrame(step);
    else done([...list.querySelectorAll("[aria-posinset]")].at(-1)?.ariaPosInSet);
  };
  step();
})`;

async function scrollThrough(browser: Browser, url: string): Promise<Figure[]> {
  const measured = await MeasuredPage.open(browser, url);
  await measured.rowMs();
  const before = await measured.heapMb();
  let last = "";
  const startedAt = performance.now();
  const frames = await measured.frameTimes(async () => {
    last = await measured.page.evaluate<string>(SCROLL);
  });
  const tookMs = performance.now() - startedAt;
  const heap = await measured.heapMb();
  await measured.close();
  return [
    {
      name: "scrolled to its end: rows",
      measured: Number(last),
      unit: "rows",
      note: `in ${(tookMs / 1_000).toFixed(0)} s`,
    },
    {
      ...{ name: "frame while it scrolls, p95", measured: percentile(frames, 0.95), unit: "ms", atMost: 32 },
      note: `median ${median(frames).toFixed(1)}, p99 ${percentile(frames, 0.99).toFixed(0)}, the longest ${Math.max(...frames).toFixed(0)} ms`,
    },
    { name: "memory of the page at the end", measured: heap, unit: "MB", note: `${before.toFixed(1)} MB at the start` },
  ];
}
