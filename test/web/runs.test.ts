import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a browser that opens the server's address comes to the pages, and a fresh server shows what to try", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/`);
  await page.getByText("Nothing has run here yet").waitFor();
  expect(new URL(page.url()).pathname).toBe("/ui/runs");
  await takePicture(page, "first-page");
  await page.getByRole("button", { name: "Try it" }).first().click();
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}/);
});

test("runs that somebody starts elsewhere come into the list by themselves, and are filtered by the address", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/runs`);
  await page.getByText("Nothing has run here yet").waitFor();
  await start(url, "question");
  await start(url, "review");
  const list = page.getByRole("list", { name: "Runs" });
  await list.getByRole("link", { name: "question" }).waitFor();
  await list.getByRole("img", { name: "awaiting approval" }).waitFor();
  await takePicture(page, "runs");
  await page.goto(`${url}/ui/runs?status=awaiting_approval`);
  await list.getByRole("link", { name: "review" }).waitFor();
  expect(await list.getByRole("link", { name: "question" }).count()).toBe(0);
  await page.getByRole("searchbox", { name: "Search" }).fill("no such run");
  await page.getByText("No run fits.").waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("no such run");
});

test("a run is started from a form, with what it costs at worst before the click", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const page = await open(`${url}/ui/runs`);
  await page.getByRole("button", { name: "Start a run" }).click();
  const dialog = page.getByRole("dialog", { name: "Start a run" });
  await dialog.getByLabel("Workflow").selectOption("question");
  await dialog.getByLabel("question", { exact: true }).fill("What is it?");
  await dialog.getByText("costs nothing").waitFor();
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}/);
});

test("a server with a key asks for it once, and it is never in an address", async () => {
  const { url } = await startServer([], { cwd: application(FILES), env: { API_KEY: "a-long-secret-key" } });
  const page = await open(`${url}/ui/runs`);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.getByLabel("Key", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByText("The key is not known here").waitFor();
  await page.getByLabel("Key", { exact: true }).fill("a-long-secret-key");
  await page.getByRole("button", { name: "Use this key" }).click();
  await page.getByText("Nothing has run here yet").waitFor();
  await page.reload();
  await page.getByText("Nothing has run here yet").waitFor();
  expect(asked.filter((each) => each.includes("secret"))).toEqual([]);
});

async function start(url: string, workflow: string): Promise<void> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow, input: { question: "?" } }),
  });
  expect(response.status).toBe(202);
}
