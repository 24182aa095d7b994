import { expect, test } from "vitest";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { KilledServer } from "../faults/service/killed-server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";
import { findFreePort } from "../support/free-port.ts";

const open = useBrowser();

/** Five companies, the third of which nobody can read. */
const COMPANIES = `
name: companies
steps:
  - id: read
    prompt: "Read {input.website} and say what the company does."
    parallel_over: input.companies
    retry: { max_attempts: 2, backoff: fixed, on_failure: skip }
  - id: report
    depends_on: [read]
    prompt: "Sum up."
`;

const ANSWERS = `
steps:
  read:
    items:
      - { reply: "Sensors.", delay_ms: 300, cost_usd: 0.01, turns: 2 }
      - { reply: "Swimming schools.", delay_ms: 500, cost_usd: 0.01 }
      - - { fail: AGENT_STREAM_CUT, message: "The answer broke off.", delay_ms: 100, cost_usd: 0.01 }
        - { fail: AGENT_ERROR, message: "The website refuses visitors.", delay_ms: 100, cost_usd: 0.01 }
      - { reply: "A joinery.", delay_ms: 700, cost_usd: 0.01 }
      - { reply: "Robots.", delay_ms: 900, cost_usd: 0.01 }
  report: { reply: "Five companies.", delay_ms: 300, cost_usd: 0.02 }
`;

const FILES = {
  "workflows/companies.yaml": COMPANIES,
  "answers.yaml": ANSWERS,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

const INPUT = { companies: ["a", "b", "c", "d", "e"].map((name) => ({ website: `https://${name}.example` })) };

test("a run of five companies is watched live, and opens on the item that has failed", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const id = await start(url);
  const page = await open(`${url}/ui/runs/${id}`);
  const timeline = page.getByRole("list", { name: "Timeline" });
  await timeline.getByRole("button", { name: "read", exact: true }).waitFor();
  await page.getByRole("heading", { name: "read[2]" }).waitFor();
  await page.getByText("The website refuses visitors.").first().waitFor();
  await page.locator("header").getByText("partial").waitFor();
  await timeline.getByText("1 failed").waitFor();
  await timeline.getByRole("button", { name: "read[4]" }).waitFor();
  const attempts = page.locator("section", { hasText: "Attempts" });
  await attempts.getByText("AGENT_STREAM_CUT").waitFor();
  await takePicture(page, "run");
});

test("a step that is looked at stays on the page while it and others go on", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const id = await start(url);
  const page = await open(`${url}/ui/runs/${id}?step=read[4]`);
  await page.getByRole("heading", { name: "read[4]" }).waitFor();
  await page.locator('[data-step="read[4]"]').getByText("Robots.").first().waitFor();
  await page.locator("header").getByText("partial").waitFor();
  await page.getByRole("heading", { name: "read[4]" }).waitFor();
});

test("the failed item is forked with another prompt, and the difference is shown before the click", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const id = await start(url);
  const page = await open(`${url}/ui/runs/${id}`);
  await page.getByRole("heading", { name: "read[2]" }).waitFor();
  await page.locator("header").getByText("partial").waitFor();
  await page.getByRole("button", { name: "Fork with changes" }).click();
  const dialog = page.getByRole("dialog", { name: "Fork from read[2]" });
  const prompt = dialog.getByLabel("Prompt of read");
  expect(await prompt.inputValue()).toBe("Read {input.website} and say what the company does.");
  await prompt.fill("Read {input.website} politely.");
  const difference = dialog.getByRole("figure", { name: "Difference" });
  await difference.getByText("+ Read {input.website} politely.").waitFor();
  await takePicture(page, "fork");
  await dialog.getByRole("button", { name: "Start the fork" }).click();
  await page.waitForURL(
    (address) => /\/ui\/runs\/[0-9a-f-]{36}/.test(address.pathname) && !address.pathname.includes(id),
  );
  await page.getByText("fork of").waitFor();
  await page.getByRole("list", { name: "Timeline" }).getByRole("button", { name: "Items of read" }).click();
  await page.getByRole("button", { name: "read[2]" }).click();
  await page.locator("section", { hasText: "Prompt" }).getByText("Read https://c.example politely.").waitFor();
});

test("the slider shows the whole run as of an event, and comes back to the present", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const id = await start(url);
  await expect.poll(() => statusOf(url, id)).toBe("partial");
  const page = await open(`${url}/ui/runs/${id}?as_of=2`);
  const timeline = page.getByRole("list", { name: "Timeline" });
  await timeline.getByText("0/5").waitFor();
  await page.getByText("running").first().waitFor();
  await page.getByRole("button", { name: "Back to now" }).click();
  await timeline.getByText("5/5").waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByRole("list", { name: "Events" }).getByRole("button", { name: "runStarted" }).waitFor();
  await takePicture(page, "events");
});

test("a page survives a server that is killed in mid-run and started again: it says that it is behind, and shows the end", async () => {
  const port = await findFreePort();
  // The report's first attempt does not end before the kill, however long the page takes to open.
  const answers = ANSWERS.replace(/report: (.*)/, "report: [{ reply: Never., delay_ms: 600000 }, $1]");
  const server = new KilledServer({
    cwd: application({ ...FILES, "answers.yaml": answers }),
    env: {},
    args: ["--port", String(port)],
  });
  await server.start();
  const url = await server.url;
  const id = await start(url);
  const page = await open(`${url}/ui/runs/${id}`);
  await page.getByRole("list", { name: "Timeline" }).getByRole("button", { name: "read", exact: true }).waitFor();
  await expect.poll(async () => (await fetch(`${url}/runs/${id}`)).text()).toMatch(/"path":"report",[^}]*"running"/);
  await server.kill();
  await page.getByText("behind: connecting again").waitFor();
  await server.start();
  await page.locator("header").getByText("partial").waitFor();
  await page.getByText("behind: connecting again").waitFor({ state: "detached" });
  await server.stop();
});

test("text of a model is text: what looks like a page in it is shown and never becomes one", async () => {
  const hostile = "<img src=x onerror=\\\"document.title='taken'\\\"><script>document.title='taken'</script>";
  const { url } = await startServer([], {
    cwd: application({
      ...FILES,
      "answers.yaml": `steps: { read: { reply: "${hostile}", delay_ms: 0 }, report: { reply: "${hostile}", delay_ms: 0 } }\n`,
    }),
  });
  const id = await start(url);
  await expect.poll(() => statusOf(url, id)).toBe("completed");
  const page = await open(`${url}/ui/runs/${id}?step=report`);
  await page.getByText("<script>document.title").first().waitFor();
  expect(await page.title()).toBe("Pawl");
  expect(await page.locator("img[src=x]").count()).toBe(0);
});

async function start(url: string): Promise<string> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "companies", input: INPUT }),
  });
  const { data } = (await response.json()) as { data: { run_id: string } };
  return data.run_id;
}

async function statusOf(url: string, id: string): Promise<unknown> {
  const response = await fetch(`${url}/runs/${id}?steps=false`);
  return ((await response.json()) as { data: { status: unknown } }).data.status;
}
