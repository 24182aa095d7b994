import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { application, QUESTION, REVIEW } from "../../end-to-end/support/application.ts";
import { pawl } from "../../end-to-end/support/pawl.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { refuseRows } from "../../support/refuse-rows.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const SECRETS = { PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  onTestFinished(() => client.end());
  await client.connect();
  return client;
}

test.each(["workflow_definitions", "budgets"])(
  "a server whose table %s somebody has taken away says so and ends, though it listens already",
  async (table) => {
    const url = await newTestDatabase();
    const cwd = application({ "workflows/question.yaml": QUESTION });
    const env = { ...SECRETS, DATABASE_URL: url };
    expect((await pawl(["db", "migrate"], { cwd, env })).code).toBe(0);
    const client = await connect(url);
    await client.query(`ALTER TABLE ${table} RENAME TO elsewhere`);
    const { code, stderr } = await pawl(["serve", "--role", "scheduler", "--port", "0"], { cwd, env });
    expect([code, stderr]).toEqual([1, expect.stringContaining("error JOURNAL_DAMAGED")]);
    expect(stderr).toContain(`"${table}" does not exist`);
  },
);

test("a process that may write nothing any more ends when it is told to, and says what fails", async () => {
  const url = await newTestDatabase();
  const cwd = application({ "workflows/question.yaml": QUESTION });
  const redis = await RedisServer.start();
  const server = await startServer([], { cwd, env: { ...SECRETS, DATABASE_URL: url, REDIS_URL: redis.url } });
  await refuseRows(await connect(url), true);
  server.kill("SIGTERM");
  const { code, stderr } = await server.ended;
  expect([code, stderr]).toEqual([0, expect.stringContaining("No space left on device")]);
});

test("an answer that nobody has taken when its server stops is taken back, and may be given again", async () => {
  const url = await newTestDatabase();
  const cwd = application({ "workflows/review.yaml": REVIEW });
  const env = { ...SECRETS, DATABASE_URL: url, PAWL_SERVER__STOP_GRACE_MS: "200", API_KEY: "key" };
  const [api, worker] = await Promise.all([
    startServer(["--role", "api"], { cwd, env }),
    startServer(["--role", "worker"], { cwd, env }),
  ]);
  const ask = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const headers = { "x-api-key": "key", "content-type": "application/json" };
    const response = await fetch(`${api.url}${path}`, { ...sent, headers });
    return { status: response.status, ...((await response.json()) as { readonly data: never; readonly error: never }) };
  };
  const { run_id: id } = (await ask("/workflows/run", { workflow: "review", agent: "simulated" })).data as {
    run_id: string;
  };
  await expect
    .poll(async () => (await ask(`/runs/${id}`)).data)
    .toMatchObject({
      status: "awaiting_approval",
    });
  worker.kill("SIGSTOP");
  const answer = ask(`/approvals/${id}/approve`, {});
  const client = await connect(url);
  const isSent = async () => (await client.query("SELECT FROM inbox")).rowCount === 1;
  await expect.poll(isSent).toBe(true);
  api.kill("SIGTERM");
  expect(await answer).toMatchObject({ status: 503, error: { code: "SERVER_STOPPING" } });
  expect(await isSent()).toBe(false);
  expect((await api.ended).code).toBe(0);
  worker.kill("SIGCONT");
});
