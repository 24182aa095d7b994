import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { application, QUESTION } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": "steps: { answer: { reply: Because., cost_usd: 0.9, delay_ms: 0 } }\n",
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a budget is set, fills by itself as runs cost, and is removed; what they cost is summed up", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/costs`);
  await page.getByText("No run was started in this time.").waitFor();
  await page.getByRole("button", { name: "Set a budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a budget" });
  await dialog.getByLabel("Of runs of").selectOption("question");
  await dialog.getByLabel("At most: US dollars").fill("1");
  await dialog.getByRole("button", { name: "Set it" }).click();
  await page.getByText("$0 of $1.00").waitFor();
  await call("POST /workflows/run", { workflow: "question", input: { question: "Why?" } });
  await page.getByText("$0.900 of $1.00").waitFor();
  await page.getByText("80 % are used").waitFor();
  await page.getByRole("button", { name: "Read again" }).click();
  const table = page.getByRole("table", { name: "Costs by workflow" });
  await table.getByRole("link", { name: "question" }).waitFor();
  await table.getByText("$0.900").waitFor();
  await takePicture(page, "costs");
  await page.getByRole("tab", { name: "by day" }).click();
  await page.getByRole("table", { name: "Costs by day" }).waitFor();
  expect(new URL(page.url()).searchParams.get("by")).toBe("day");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Nothing limits what runs may use together.").waitFor();
});
