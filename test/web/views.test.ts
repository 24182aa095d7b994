import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const LONG = "a-name-that-goes-on-and-on-".repeat(3);

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "workflows/long.yaml": `name: ${LONG}\nsteps:\n  - id: ${LONG}\n    prompt: "{input.question}"\n`,
  "workflows/broken.yaml": "name: broken\nsteps:\n  - id: a\n    depends_on: [nobody]\n    prompt: x\n",
  "answers.yaml": `${AT_ONCE}  ${LONG}: {fail: AGENT_ERROR, message: "${"The model has failed. ".repeat(500)}", delay_ms: 0}\n`,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

const LOOKS = [
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 390 },
] as const;

describe.each(LOOKS)("in $colorScheme, $width pixels wide", ({ colorScheme, width }) => {
  test("every view can be read by everybody, and nothing is wider than the page", async () => {
    const server = await startServer([], { cwd: application(FILES) });
    const { failed: run, other } = await fill(server);
    const page = await open(`${server.url}/ui/runs`, { colorScheme, viewport: { width, height: 800 } });
    await page.getByRole("list", { name: "Runs" }).waitFor();
    const links = await page.getByRole("navigation", { name: "Views" }).getByRole("link").all();
    const paths = await Promise.all(
      links.map(async (link) => new URL((await link.getAttribute("href")) ?? "", page.url()).pathname),
    );
    const views = new Set([
      ...paths,
      `/ui/runs/${run}`,
      `/ui/runs/${run}?look=graph`,
      `/ui/runs/${run}?look=events`,
      `/ui/compare?a=${run}`,
      `/ui/compare?a=${run}&b=${other}`,
      "/ui/workflows/question",
    ]);
    const found: unknown[] = [];
    for (const view of views) {
      await page.goto(server.url + view);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await expect.poll(() => page.locator("[data-loading]").count()).toBe(0);
      await takePicture(page, `view${view.replaceAll(/[^a-z]+/g, "-")}-${colorScheme}-${width}`);
      found.push(...(await findBarriers(page)).map((barrier) => ({ view, ...barrier })));
      if ((await overflowOf(page)) > 0) found.push({ view, rule: "wider than the page", by: await overflowOf(page) });
    }
    expect(found).toEqual([]);
    expect(views.size).toBeGreaterThan(8);
    // Every view is opened and looked through, one after the other.
  }, 120_000);
});

/** Serious and critical findings of axe. */
async function findBarriers(
  page: Page,
): Promise<readonly { readonly rule: string; readonly nodes: readonly string[] }[]> {
  // As a value, since the page's policy takes no script of others.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run(),
  );
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => ({ rule: id, nodes: nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)) }));
}

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

/** A run of each kind; the ids of the failed one, whose names and error are long, and of another. */
async function fill({ url }: RunningServer): Promise<{ readonly failed: string; readonly other: string }> {
  const ids: string[] = [];
  for (const workflow of ["question", "review", LONG]) {
    const response = await fetch(`${url}/workflows/run`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ workflow, input: { question: "?" } }),
    });
    const answer = (await response.json()) as { data: { run_id: string } | null };
    expect(answer).toMatchObject({ error: null });
    ids.push(answer.data?.run_id ?? "");
  }
  const failed = ids.at(-1) ?? "";
  await expect.poll(async () => (await fetch(`${url}/runs/${failed}?steps=false`)).text()).toContain('"failed"');
  return { failed, other: ids[0] ?? "" };
}
