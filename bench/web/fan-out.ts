import type { Browser } from "playwright-core";
import { percentile } from "../service/percentiles.ts";
import { ServerProcess } from "../service/server-process.ts";
import { median } from "../support/compare.ts";
import type { Figure } from "./figure.ts";
import { MeasuredPage } from "./measured-page.ts";
import { postRun, runEnd } from "./post-run.ts";

const ITEMS = 500;

/** 25 at once, each as long as a simulated agent takes by itself (0.3 to 1.5 s); and all of them at once. */
const FILES = {
  "workflows/some.yaml": fanOutOf("some", 25),
  "workflows/all.yaml": fanOutOf("all", ITEMS),
  "pawl.yaml": "agent: { provider: simulated }\n",
};

function fanOutOf(name: string, atOnce: number): string {
  return `name: ${name}
steps:
  - id: read
    prompt: "Read {input.site} and say what it is about."
    parallel_over: input.sites
    max_concurrent: ${atOnce}
`;
}

/** The page of a run whose fan-out is open in the timeline, while its items are worked on. */
export async function benchFanOutOnPage(browser: Browser): Promise<Figure[]> {
  const server = await ServerProcess.pawl(FILES);
  try {
    return [await benchFrames(browser, server.url, "some"), await benchFrames(browser, server.url, "all")];
  } finally {
    await server.stop();
  }
}

async function benchFrames(browser: Browser, url: string, workflow: "some" | "all"): Promise<Figure> {
  const sites = Array.from({ length: ITEMS }, (_, n) => ({ site: `https://${n}.example` }));
  const startedAt = performance.now();
  const id = await postRun(url, workflow, { sites });
  const measured = await MeasuredPage.open(browser, `${url}/ui/runs/${id}`);
  await measured.page.getByRole("button", { name: "Items of read" }).click();
  await measured.page.getByRole("button", { name: "read[0]" }).waitFor();
  const frames = await measured.frameTimes(() => runEnd(url, id));
  const tookS = (performance.now() - startedAt) / 1_000;
  await measured.page.locator("header").getByText("completed").waitFor();
  await measured.close();
  const slow = frames.filter((ms) => ms > 32).length;
  return {
    name: `frame while ${ITEMS} agents work, ${workflow === "all" ? "all" : 25} at once, p95`,
    ...{ measured: percentile(frames, 0.95), unit: "ms", atMost: 32 },
    note: `median ${median(frames).toFixed(1)}, p99 ${percentile(frames, 0.99).toFixed(0)}, the longest ${Math.max(...frames).toFixed(0)} ms; ${slow} of ${frames.length} frames above 32 ms; the run took ${tookS.toFixed(1)} s`,
  };
}
