import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { application, QUESTION } from "../../end-to-end/support/application.ts";
import { pawl } from "../../end-to-end/support/pawl.ts";
import { newTestDatabase } from "../../support/test-database.ts";

test("a server that cannot read what was saved says why and ends, though it listens already", async () => {
  const url = await newTestDatabase();
  const cwd = application({ "workflows/question.yaml": QUESTION });
  const env = { DATABASE_URL: url, PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
  expect((await pawl(["db", "migrate"], { cwd, env })).code).toBe(0);
  const client = new pg.Client({ connectionString: url });
  onTestFinished(() => client.end());
  await client.connect();
  await client.query("ALTER TABLE workflow_definitions RENAME TO elsewhere");
  const { code, stderr } = await pawl(["serve", "--role", "scheduler", "--port", "0"], { cwd, env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('"workflow_definitions" does not exist')]);
});
