import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { KilledServer } from "./killed-server.ts";

test("while another program holds the service's file what must be written there is refused, runs go on, and webhooks come later", async () => {
  const receiver = await WebhookReceiver.listen();
  const cwd = application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": `outbound: { allow: ["${receiver.host}"] }\nagent: { provider: "simulated:answers.yaml" }\n`,
  });
  const server = new KilledServer({ cwd, env: {} });
  await server.start();
  const url = await server.url;
  // Not tried again: what is answered while the file is held counts.
  const post = async (path: string, body: unknown, headers = {}) => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    const { data, error } = (await response.json()) as { data: { run_id: string }; error: { code: string } | null };
    return { status: response.status, code: error?.code, runId: data?.run_id };
  };
  const keyed = () =>
    post("/workflows/run", { workflow: "question", input: { question: "?" } }, { "idempotency-key": "k" });

  const holder = new DatabaseSync(join(cwd, ".pawl", "service.db"));
  holder.exec("BEGIN EXCLUSIVE");
  expect(await keyed()).toMatchObject({ status: 503, code: "JOURNAL_IO" });
  const schedule = { workflow: "question", cron: "0 0 1 1 *" };
  expect(await post("/schedules", schedule)).toMatchObject({ status: 503, code: "JOURNAL_IO" });
  const told = await post("/workflows/run", {
    workflow: "question",
    input: { question: "?" },
    callback_url: receiver.url(),
  });
  expect(told.status).toBe(202);
  const shown = async () => ((await server.get(`/runs/${told.runId}`)) as { status: string }).status;
  await expect.poll(shown).toBe("completed");
  holder.exec("ROLLBACK");
  holder.close();

  expect((await keyed()).status).toBe(202);
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(JSON.parse(receiver.first.body)).toMatchObject({ run_id: told.runId, status: "completed" });
  expect(await server.stop()).toBe(0);
  // Each request that the held file refuses waits for its lock first.
});
