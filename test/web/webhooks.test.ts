import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { AT_ONCE, application, QUESTION } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION.replace("steps:", 'on_complete: { webhook: "http://127.0.0.1:9/hook" }\nsteps:'),
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a delivery that has failed says why, try by try, and is sent again", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/webhooks`);
  await page.getByText("Nothing was told to another server.").waitFor();
  await call("POST /workflows/run", { workflow: "question", input: { question: "Why?" } });
  const list = page.getByRole("list", { name: "Deliveries" });
  await list.getByText("failed, 1 try").click();
  await page.getByRole("alert").getByText("WEBHOOK_NOT_DELIVERED").waitFor();
  await takePicture(page, "webhooks");
  await page.getByRole("button", { name: "Send it again" }).click();
  await page.getByText("It is sent again now.").waitFor();
  await list.getByText("failed, 2 tries").waitFor();
  await page.getByLabel("Status", { exact: true }).selectOption("delivered");
  await page.getByText("No delivery fits.").waitFor();
  expect(new URL(page.url()).searchParams.get("status")).toBe("delivered");
});
