import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../end-to-end/support/application.ts";
import { startServer } from "../end-to-end/support/server.ts";
import { type ForeignClient, inspector, oldSdk } from "./foreign-clients.ts";

/** The original's. */
const EIGHT = [
  "run_workflow",
  "run_workflow_yaml",
  "get_run_status",
  "cancel_run",
  "list_runs",
  "save_workflow",
  "create_schedule",
  "delete_schedule",
];

/** With a server that owns the data, so that no process in the background is left behind. */
async function serve(): Promise<{ readonly app: string; readonly url: string }> {
  const app = application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
  const server = await startServer([], { cwd: app });
  onTestFinished(() => server.kill("SIGTERM"));
  return { app, url: `${server.url}/mcp` };
}

test("the Inspector runs workflows over stdio, as a client of 2025", async () => {
  const { app } = await serve();
  await useEverything(inspector({ app, verb: ["mcp"] }, "legacy"));
});

test.each(["legacy", "modern"] as const)("the Inspector runs workflows at /mcp, as a %s client", async (era) => {
  const { url } = await serve();
  await useEverything(inspector({ url }, era));
});

test("a client of the SDK before this one runs workflows over stdio", async () => {
  const { app } = await serve();
  await useEverything(await oldSdk({ app, verb: ["mcp"] }));
});

test("a client of the SDK before this one runs workflows at /mcp", async () => {
  const { url } = await serve();
  await useEverything(await oldSdk({ url }));
});

/** Run, look, save, schedule. */
async function useEverything(client: ForeignClient): Promise<void> {
  expect(await client.listTools()).toEqual(expect.arrayContaining(EIGHT));
  const asked = { workflow_name: "question", input_data: { question: "?" }, wait: true };
  const { run_id = null, status } = await client.call("run_workflow", asked);
  expect(status).toBe("completed");
  expect(JSON.parse(await client.read(`run://${run_id}`))).toMatchObject({ outputs: { answer: "42" } });
  const yaml_content = QUESTION.replace("name: question", "name: other");
  expect(await client.call("save_workflow", { yaml_content })).toMatchObject({ name: "other", version: 1 });
  const schedule = await client.call("create_schedule", { workflow_name: "other", cron_expression: "0 6 * * *" });
  expect(JSON.parse(await client.read("pawl://schedules"))).toMatchObject({ items: [{ workflow_name: "other" }] });
  await client.call("delete_schedule", { schedule_id: schedule["schedule_id"] ?? null });
  expect(await client.call("list_schedules")).toEqual({ items: [], next_cursor: null });
}
