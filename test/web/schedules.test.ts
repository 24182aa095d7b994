import { expect, test } from "vitest";
import { createPawlClient } from "../../src/client/pawl-client.ts";
import { AT_ONCE, application, QUESTION } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { takePicture, useBrowser } from "../support/browser.ts";

const open = useBrowser();

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

test("a schedule is made with its next times before the click, paused, and run now", async () => {
  const { url } = await startServer([], { cwd: application(FILES) });
  const { call } = createPawlClient({ url });
  const page = await open(`${url}/ui/schedules`, { timezoneId: "America/Bogota" });
  await page.getByText("Nothing starts by the clock.").waitFor();
  await page.getByRole("button", { name: "New schedule" }).click();
  const dialog = page.getByRole("dialog", { name: "New schedule" });
  await dialog.getByLabel("Workflow").selectOption("question");
  await dialog.getByLabel("Cron expression").fill("99 * * * *");
  await dialog.getByText("Invalid value for minute").waitFor();
  await dialog.getByLabel("Cron expression").fill("30 2 1 * *");
  await dialog.getByLabel("Time zone").fill("Asia/Tokyo");
  const times = dialog.getByRole("region", { name: "Next times" });
  await times.getByText(", 02:30 (+09:00)").nth(4).waitFor();
  expect(await times.getByRole("time").first().getAttribute("title")).toMatch(/, 12:30:00/);
  await dialog.getByLabel("Input").fill('{"question": "Why?"}');
  await dialog.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await takePicture(page, "schedules");
  const { items } = await call("GET /schedules");
  expect(items).toMatchObject([
    { workflow_name: "question", cron_expression: "30 2 1 * *", timezone: "Asia/Tokyo", enabled: false },
  ]);
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("A run is under way.").waitFor();
  await expect.poll(() => call("GET /runs")).toMatchObject({ items: [{ workflow_name: "question" }] });
});

test("what a definition says is not removed here, and the server's reason is shown", async () => {
  const report = QUESTION.replace("name: question", 'name: report\nschedule: "0 6 * * 1-5"');
  const { url } = await startServer([], { cwd: application({ ...FILES, "workflows/report.yaml": report }) });
  const page = await open(`${url}/ui/schedules`);
  await page.getByRole("list", { name: "Schedules" }).getByText("report").click();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("alert").getByText("SCHEDULE_DEFINED").waitFor();
});
