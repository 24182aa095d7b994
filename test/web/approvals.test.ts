import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { AT_ONCE, application, REVIEW } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a person changes what is shown and approves it, and the run goes on with the changes", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/approvals`);
  await page.getByText("Nobody is asked anything.").waitFor();
  const { run_id: id } = await call("POST /workflows/run", { workflow: "review" });
  await page.getByRole("link", { name: "Approvals 1 waiting for a person" }).waitFor();
  await page.getByRole("list", { name: "Open questions" }).getByText("Is it good?").click();
  await takePicture(page, "approvals");
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Text", { exact: true }).fill("A much better draft.");
  await page.getByLabel("Comment").fill("I have mended it.");
  await page.getByRole("button", { name: "Approve with my changes" }).click();
  await page.getByText("Nobody is asked anything.").waitFor();
  await expect.poll(() => call("GET /runs/{id}", { id })).toMatchObject({ outputs: { look: "A much better draft." } });
});

test("the key `a` asks, Enter approves what is picked with a receipt, and who opens it afterwards reads who has answered", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run", { workflow: "review" });
  const page = await open(`${url}/ui/approvals`);
  await page.getByRole("list", { name: "Open questions" }).getByText("Is it good?").waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByText("never: it waits for as long as it takes").waitFor();
  const asked = page.url();
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Approve this?" });
  await dialog.waitFor();
  expect((await call("GET /approvals")).items).toHaveLength(1);
  await expect.poll(() => page.locator(":focus").textContent()).toBe("Approve");
  await page.keyboard.press("Enter");
  await page.getByText("Nobody is asked anything.").waitFor();
  const receipt = page.getByRole("list", { name: "Your answers" }).getByRole("listitem");
  expect(await receipt.innerText()).toMatch(/Approved\s+Is it good\?\s+review · look/);
  await page.goto(asked);
  await page.getByText("This question is answered.").waitFor();
  expect(await page.getByText("approve", { exact: true }).count()).toBe(1);
  expect(await call("GET /runs/{id}", { id })).toMatchObject({ outputs: { look: "A draft." } });
});

test("a rejection is explained before it is given", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run", { workflow: "review" });
  await expect.poll(async () => (await call("GET /approvals")).items.length).toBe(1);
  const page = await open(`${url}/ui/approvals/${encodeURIComponent(`${id}:look`)}`);
  await page.getByRole("button", { name: "Reject" }).click();
  const dialog = page.getByRole("dialog", { name: "Reject this?" });
  await dialog.getByText("The step fails with APPROVAL_REJECTED").waitFor();
  await dialog.getByRole("button", { name: "Reject" }).click();
  await expect.poll(() => call("GET /runs/{id}", { id })).toMatchObject({ status: "failed" });
});

test("changed data that the server does not take is refused with the reason, and can be mended", async () => {
  const limited = `
name: limited
limits: { max_steps: 1, on_exceeded: ask }
steps:
  - id: draft
    prompt: Write something.
  - id: again
    depends_on: [draft]
    prompt: Write it again.
`;
  const answers = "steps: { draft: { reply: One., delay_ms: 0 }, again: { reply: Two., delay_ms: 0 } }\n";
  const cwd = application({ ...FILES, "workflows/limited.yaml": limited, "answers.yaml": answers });
  const { url } = await startServer([], { cwd });
  const { call } = createPawlClient({ url });
  const { run_id: id } = await call("POST /workflows/run", { workflow: "limited" });
  const page = await open(`${url}/ui/approvals`);
  await page.getByRole("list", { name: "Open questions" }).getByText("limited").click();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("raise_by").fill('{"steps": "many"}');
  await page.getByRole("button", { name: "Approve with my changes" }).click();
  await page.getByRole("alert").getByText("APPROVAL_EDIT_REFUSED").waitFor();
  await page.getByLabel("raise_by").fill('{"steps": 5}');
  await page.getByRole("button", { name: "Approve with my changes" }).click();
  await page.getByText("Nobody is asked anything.").waitFor();
  await expect.poll(() => call("GET /runs/{id}", { id })).toMatchObject({ status: "completed" });
});

test("an address that was sent to a person shows the question without the pages, and takes the answer", async () => {
  const apiKey = "a-long-secret-key";
  const { url } = await startServer([], { cwd: application(FILES), env: { API_KEY: apiKey } });
  const { call } = createPawlClient({ url, apiKey });
  await call("POST /keys", { name: "alice", scopes: ["run"] });
  const { run_id: id } = await call("POST /workflows/run", { workflow: "review" });
  await expect.poll(async () => (await call("GET /approvals")).items).toHaveLength(1);
  const { path } = await call("POST /approvals/{id}/link", { id, for: "alice" });
  const page = await open(`${url}${path}`);
  await page.getByRole("heading", { name: "Is it good?" }).waitFor();
  await page.getByLabel("Comment").fill("From the train.");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("you have approved").waitFor();
  await expect.poll(() => call("GET /runs/{id}", { id })).toMatchObject({ status: "completed" });
});
