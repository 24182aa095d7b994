import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";

test("while another program holds the locks of all files, answers to writes wait and nothing else does", async () => {
  const cwd = application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
  const server = await startServer([], { cwd, env: {} });
  const start = (key: string) =>
    fetch(`${server.url}/workflows/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ workflow: "question", input: { question: "?" } }),
    });
  expect((await start("first")).status).toBe(202);

  const holders = ["pawl.db", "service.db"].map((name) => new DatabaseSync(join(cwd, ".pawl", name)));
  for (const holder of holders) holder.exec("BEGIN IMMEDIATE");
  const waiting = ["a", "b", "c"].map(start);
  const delaysMs: number[] = [];
  for (let asked = 0; asked < 100; asked += 1) {
    const askedAt = performance.now();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    delaysMs.push(performance.now() - askedAt);
    await setTimeout(20);
  }
  for (const holder of holders) holder.close();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  // A wait for the lock on the thread of all requests took five seconds.
  expect(delaysMs.sort((a, b) => a - b).at(-2)).toBeLessThan(500);
  server.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
}, 60_000);
