import type { Browser } from "playwright-core";
import { startFakeModelServer } from "../../test/fakes/model-server/fake-model-server.ts";
import { percentile } from "../service/percentiles.ts";
import { ServerProcess } from "../service/server-process.ts";
import { median } from "../support/compare.ts";
import type { Figure } from "./figure.ts";
import { MeasuredPage } from "./measured-page.ts";
import { postRun, runEnd } from "./post-run.ts";

const RUNS = 10;
const WORD = /word-\d+\./g;

/** From the moment in which a model's server sends a piece of text until it stands in the step that somebody looks at. */
export async function benchAgentText(browser: Browser): Promise<Figure[]> {
  const sentAt = new Map<string, number>();
  let isLookedAt = Promise.withResolvers<void>();
  let said = 0;
  const model = await startFakeModelServer({
    // Two pieces of equal length, a while apart.
    replies: async () => {
      await isLookedAt.promise;
      said += 2;
      return { do: "say", text: `${wordOf(said)}${wordOf(said + 1)}`, gapMs: 200 };
    },
    onSent: ({ data }) => {
      for (const [word] of JSON.stringify(data).matchAll(WORD)) sentAt.set(word, Date.now());
    },
  });
  const provider = { kind: "anthropic", base_url: model.url, api_key: "any" };
  const server = await ServerProcess.pawl({
    "workflows/tell.yaml": 'name: tell\nsteps:\n  - {id: say, model: "fake:any", prompt: Speak.}\n',
    "pawl.yaml": JSON.stringify({
      agent: { provider: "inline" },
      models: { default: "fake:any", providers: { fake: provider } },
    }),
  });
  try {
    const lateMs: number[] = [];
    for (let nth = 0; nth < RUNS; nth += 1) {
      isLookedAt = Promise.withResolvers();
      const id = await postRun(server.url, "tell", {});
      const measured = await MeasuredPage.open(browser, `${server.url}/ui/runs/${id}?step=say`);
      await measured.page.getByRole("heading", { name: "say", exact: true }).waitFor();
      isLookedAt.resolve();
      await runEnd(server.url, id);
      await measured.page.locator("header").getByText("completed").waitFor();
      const texts = await measured.texts();
      for (const word of [wordOf(said), wordOf(said + 1)])
        lateMs.push((texts[word] ?? Number.NaN) - (sentAt.get(word) ?? Number.NaN));
      await measured.close();
    }
    const note = `${lateMs.length} pieces: median ${median(lateMs).toFixed(0)} ms`;
    const name = "from what a model says to its text on the page, p95";
    return [{ name, measured: percentile(lateMs, 0.95), unit: "ms", atMost: 500, note }];
  } finally {
    await server.stop();
    await model.close();
  }
}

function wordOf(n: number): string {
  return `word-${String(n).padStart(4, "0")}.`;
}
