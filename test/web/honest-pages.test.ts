import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { AT_ONCE, application, QUESTION } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";
import { findFreePort } from "../support/free-port.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};
const ODD = ["50% & more", "a%20b", "100%", "a/b c?d#e", "%E4"];

test("names with blanks, percent signs, ampersands and slashes open wherever they stand in an address", async () => {
  const agents = ODD.map((name) => ({ name, system_prompt: "Say nothing." }));
  const cwd = application({ ...FILES, "agents.json": JSON.stringify({ agents, clients: [] }) });
  const { url } = await startServer([], { cwd });
  const page = await open(`${url}/ui/agents`);
  for (const name of ODD) {
    await page.goto(`${url}/ui/agents?${new URLSearchParams({ name })}`);
    await page.getByRole("heading", { name: "What it runs with" }).waitFor();
    await page.getByRole("heading", { name, exact: true }).first().waitFor();
    // A change of the address beside the name leaves the name as it is.
    await page.goto(`${url}/ui/workflows/${encodeURIComponent(name)}?new=uhlp`);
    await page.getByText(name, { exact: true }).first().waitFor();
  }
});

test("the agents of the example open by a click", async () => {
  const { url } = await startServer(["--app", fileURLToPath(new URL("../../examples/agents", import.meta.url))], {
    cwd: application({}),
  });
  const page = await open(`${url}/ui/agents`);
  await page.getByText("Weather Agent").first().click();
  await page.getByRole("heading", { name: "What it runs with" }).waitFor();
  await page.goto(`${url}/ui/workflows`);
  await page.getByRole("link", { name: "Weather then planning" }).click();
  await page.getByText("valid", { exact: true }).waitFor();
});

test("a single key starts no run again: it asks first", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run/sync", { workflow: "question", input: { question: "?" } });
  const page = await open(`${url}/ui/runs/${id}`);
  await page.getByText("Choose a step on the left").waitFor();
  await page.keyboard.press("r");
  await page.getByRole("dialog", { name: "Do the run again?" }).waitFor();
  expect((await call("GET /runs")).items).toHaveLength(1);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("r");
  await expect.poll(() => page.locator(":focus").textContent()).toBe("Rerun");
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await call("GET /runs")).items.length).toBe(2);
});

test("a view that failed to load is there when the server is back, whether its data or its program was missing", async () => {
  const cwd = application(FILES);
  const port = String(await findFreePort());
  const first = await startServer(["--port", port], { cwd });
  const page = await open(`${first.url}/ui/runs`);
  await page.getByText("Nothing has run here yet").waitFor();
  first.kill("SIGKILL");
  await first.ended;
  await page.getByRole("link", { name: "Schedules" }).click();
  await page.getByText("VIEW_NOT_LOADED").waitFor();
  const second = await startServer(["--port", port], { cwd });
  await page.getByText("schedule", { exact: false }).first().waitFor();
  await page.getByText("VIEW_NOT_LOADED").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New schedule" }).waitFor();
  await page.goto(`${second.url}/ui/agents`);
  await page.getByText("The application has no agents.").waitFor();
  second.kill("SIGKILL");
  await second.ended;
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByRole("alert").first().waitFor();
  await startServer(["--port", port], { cwd });
  await page.getByText("Nothing has run here yet").waitFor();
});

test("a run that failed outside of any step says so at the top, also where a step is looked at", async () => {
  const outside = `
name: outside
max_cost_usd: 0.001
steps:
  - { id: first, prompt: a }
  - { id: second, depends_on: [first], prompt: b }
`;
  const answers = "steps:\n  first: {reply: x, delay_ms: 50, cost_usd: 0.01}\n  second: {reply: x}\n";
  const cwd = application({ ...FILES, "workflows/outside.yaml": outside, "answers.yaml": answers });
  const { url } = await startServer([], { cwd });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run/sync", { workflow: "outside" });
  expect(await call("GET /runs/{id}", { id })).toMatchObject({ status: "budget_exceeded", failed_path: null });
  const page = await open(`${url}/ui/runs/${id}`);
  await page.getByRole("banner").or(page.locator("header")).getByText("BUDGET_EXCEEDED").first().waitFor();
  await page.goto(`${url}/ui/runs/${id}?step=first`);
  await page.locator("header").getByText("BUDGET_EXCEEDED").first().waitFor();
  await takePicture(page, "failed-outside");
});

test("signs that turn the reading direction are shown and not obeyed: in names, messages, outputs and what is edited", async () => {
  const evil = "pay\u202e001$\u2066x";
  const review = `
name: review
steps:
  - id: look
    type: approval
    approval_config: { message: ${JSON.stringify(evil)}, show_data: input.text, allow_edit: true }
`;
  const { url } = await startServer([], { cwd: application({ ...FILES, "workflows/review.yaml": review }) });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run", { workflow: "review", input: { text: evil } });
  const page = await open(`${url}/ui/approvals`);
  await page.getByText("pay⟨U+202E⟩001$⟨U+2066⟩x").first().click();
  await page.getByRole("region", { name: "What is to be judged" }).getByText("pay⟨U+202E⟩001$").waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByText("It has signs that turn the reading direction: pay⟨U+202E⟩001$").waitFor();
  const turns = async () => {
    const shown = (await page.content()).replace(/<textarea[\s\S]*?<\/textarea>| value="[^"]*"/g, "");
    return /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(shown);
  };
  expect(await turns()).toBe(false);
  for (const at of [`runs/${id}`, `runs/${id}?step=look`, `runs/${id}?look=events`, "runs"]) {
    await page.goto(`${url}/ui/${at}`);
    await page.getByText("awaiting", { exact: false }).or(page.getByText("asks a person")).first().waitFor();
    expect(await turns(), at).toBe(false);
  }
  // What is approved is what was there, sign by sign.
  await page.goto(`${url}/ui/approvals/${encodeURIComponent(`${id}:look`)}`);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => call("GET /runs/{id}", { id })).toMatchObject({ outputs: { look: evil } });
});

test("the form of a start has a field for each name that the definition reads, and says what simulated costs are", async () => {
  const many = `
name: many
input_schema: { type: object, properties: { declared: { type: string } } }
steps:
  - { id: answer, prompt: "{input.declared} {input.website}" }
  - { id: each, prompt: "{input._item}", parallel_over: input.items, depends_on: [answer] }
`;
  const { url } = await startServer([], {
    cwd: application({ ...FILES, "workflows/many.yaml": many }),
  });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/runs`);
  await page.getByRole("button", { name: "Start a run" }).click();
  const form = page.getByRole("dialog", { name: "Start a run" });
  await form.getByLabel("Workflow", { exact: true }).selectOption("many");
  await form.getByLabel("declared").fill("a");
  await form.getByLabel("website").fill("https://example.org");
  await form.getByLabel("items").fill("[1, 2]");
  await page.getByText("Simulated agents are paid nothing.").waitFor();
  await takePicture(page, "start-form");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  const [run] = (await call("GET /runs")).items;
  expect(await call("GET /runs/{id}", { id: run?.run_id ?? "" })).toMatchObject({
    input_data: { declared: "a", website: "https://example.org", items: [1, 2] },
  });
});

test("a run that waits for a budget says what for, and leads to the run that holds it", async () => {
  const slow = "name: slow\nsteps:\n  - { id: work, prompt: a }\n";
  const cwd = application({
    ...FILES,
    "workflows/slow.yaml": slow,
    "answers.yaml": "steps:\n  work: {hang: true, cost_usd: 0.01}\n",
  });
  const { url } = await startServer([], { cwd });
  const { call } = createPawlClient({ url });
  await call("POST /budgets", { workflow: "slow", max_cost_usd: 0.01 });
  const holder = await call("POST /workflows/run", { workflow: "slow", max_cost_usd: 0.01 });
  await expect
    .poll(async () => (await call("GET /runs/{id}/steps", { id: holder.run_id })).items[0]?.status)
    .toBe("running");
  const waiting = await call("POST /workflows/run", { workflow: "slow", max_cost_usd: 0.01 });
  await expect
    .poll(async () => (await call("GET /runs/{id}", { id: waiting.run_id })).budget_wait?.holders)
    .toEqual([holder.run_id]);
  const page = await open(`${url}/ui/runs/${waiting.run_id}`);
  await page.getByText(/It waits for .*budget.*: 1 run holds/).waitFor();
  await page
    .locator("header")
    .getByRole("link", { name: holder.run_id.slice(0, 13) })
    .click();
  await page.waitForURL(`${url}/ui/runs/${holder.run_id}`);
});
