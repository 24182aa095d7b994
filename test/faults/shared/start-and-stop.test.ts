import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { application, QUESTION } from "../../end-to-end/support/application.ts";
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

test("a server that cannot read what was saved says why and ends, though it listens already", async () => {
  const url = await newTestDatabase();
  const cwd = application({ "workflows/question.yaml": QUESTION });
  const env = { ...SECRETS, DATABASE_URL: url };
  expect((await pawl(["db", "migrate"], { cwd, env })).code).toBe(0);
  const client = await connect(url);
  await client.query("ALTER TABLE workflow_definitions RENAME TO elsewhere");
  const { code, stderr } = await pawl(["serve", "--role", "scheduler", "--port", "0"], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('"workflow_definitions" does not exist')]);
});

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
