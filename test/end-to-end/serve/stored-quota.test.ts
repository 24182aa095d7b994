import { expect, test } from "vitest";
import { newTestDatabase } from "../../support/test-database.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const ADMIN = "configured";

async function ask(server: RunningServer, way: string, { key = ADMIN, body }: { key?: string; body?: object } = {}) {
  const [method, path] = way.split(" ");
  const headers = { "x-api-key": key, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(server.url + path, { method: method ?? "GET", headers, ...sent });
  return { status: answer.status, text: await answer.text() };
}

async function end(server: RunningServer): Promise<void> {
  server.kill("SIGTERM");
  await server.ended;
}

test.each(["SQLite", "PostgreSQL"])(
  "a tenant that has stored what it may begins no run until old ones are gone, also after a restart: %s",
  async (where) => {
    const database = where === "SQLite" ? "" : `database: {url: "${await newTestDatabase()}"}\n`;
    const files = {
      "workflows/question.yaml": QUESTION,
      "answers.yaml": AT_ONCE,
      "pawl.yaml": `agent: {provider: "simulated:answers.yaml"}\nquotas: {stored_bytes: 200000}\n${database}`,
    };
    const options = {
      cwd: application(files),
      env: { API_KEY: ADMIN, PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" },
    };
    const first = await startServer([], options);
    const keyOf = async (tenant_id: string) => {
      const made = await ask(first, "POST /keys", { body: { name: tenant_id, tenant_id, scopes: ["admin"] } });
      return JSON.parse(made.text).data as { readonly key: string; readonly key_id: string };
    };
    const [mallory, alice] = [await keyOf("mallory"), await keyOf("alice")];
    const start = (server: RunningServer, { key }: { readonly key: string }) =>
      ask(server, "POST /workflows/run/sync", {
        key,
        body: { workflow: "question", input: { question: "x".repeat(90_000) } },
      });
    const runs: string[] = [];
    for (let n = 0; n < 2; n += 1) runs.push(JSON.parse((await start(first, mallory)).text).data.run_id);

    const shown = async () => JSON.parse((await ask(first, `GET /keys/${mallory.key_id}`)).text).data;
    await expect.poll(async () => (await shown()).in_use.stored_bytes, { timeout: 10_000 }).toBeGreaterThan(200_000);
    // The prompts hold the inputs and are not stored beside them.
    expect((await shown()).in_use.stored_bytes).toBeLessThan(400_000);
    expect((await shown()).quotas.stored_bytes).toBe(200_000);
    const refused = await start(first, mallory);
    expect([refused.status, JSON.parse(refused.text).error]).toMatchObject([
      429,
      { code: "STORED_TOO_MUCH", remedy: expect.stringContaining("quotas.stored_bytes") },
    ]);
    expect((await start(first, alice)).status).toBe(200);
    const metrics = (await ask(first, "GET /metrics")).text;
    expect(metrics).toContain('pawl_quota_limit{quota="stored_bytes"} 200000');
    expect(metrics).toMatch(/pawl_quota_stored_bytes [2-9]\d{5}/);
    await end(first);

    const second = await startServer([], options);
    expect((await start(second, mallory)).status).toBe(429);
    for (const id of runs) expect((await ask(second, `DELETE /runs/${id}`, mallory)).status).toBe(200);
    await expect.poll(async () => (await start(second, mallory)).status, { timeout: 10_000 }).toBe(200);
  },
  60_000,
);
