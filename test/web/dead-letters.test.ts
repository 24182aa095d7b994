import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { application } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/fails.yaml": `
name: fails
on_failure: { dead_letter: true }
steps:
  - id: ask
    prompt: Do it.
`,
  "answers.yaml": 'steps: { ask: { fail: BROKEN, message: "<b>it broke</b>", retryable: false, delay_ms: 0 } }\n',
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a step that has failed for good is retried or resolved, and leaves the list of what is open", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/dead-letters`);
  await page.getByText("Nothing has failed for good.").waitFor();
  const { run_id: first } = await call("POST /workflows/run", { workflow: "fails" });
  const list = page.getByRole("list", { name: "Dead letters" });
  await list.getByText("of fails").click();
  await page.getByRole("alert").getByText("<b>it broke</b>").waitFor();
  await takePicture(page, "dead-letters");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByText("It is tried again.").waitFor();
  await page.getByText("Retried as").waitFor();
  await list.getByText("of fails").click();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByRole("dialog").getByLabel("Why").fill("The customer has left.");
  await page.getByRole("dialog").getByRole("button", { name: "Resolve" }).click();
  await page.getByText("The customer has left.").waitFor();
  await page.getByText("Nothing has failed for good.").waitFor();
  const { items } = await call("GET /dead-letter", {});
  expect(items).toMatchObject([
    { run_id: first, status: "retried" },
    { status: "resolved", note: "The customer has left." },
  ]);
});
