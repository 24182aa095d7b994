import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { programOf } from "../../support/needs.ts";

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

interface Served {
  readonly url: string;
}

function start({ url }: Served, key: string): Promise<Response> {
  return fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ workflow: "question", input: { question: "?" } }),
  });
}

/** How long it took to be told that the server lives, in ms. The longest but one: a machine that others use is late once. */
async function watchHealth({ url }: Served): Promise<number> {
  const delaysMs: number[] = [];
  for (let asked = 0; asked < 100; asked += 1) {
    const askedAt = performance.now();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    delaysMs.push(performance.now() - askedAt);
    await setTimeout(20);
  }
  return delaysMs.sort((a, b) => a - b).at(-2) ?? 0;
}

test("while another program holds the locks of all files, answers to writes wait and nothing else does", async () => {
  const cwd = application(FILES);
  const server = await startServer([], { cwd, env: {} });
  expect((await start(server, "first")).status).toBe(202);

  const holders = ["pawl.db", "service.db"].map((name) => new DatabaseSync(join(cwd, ".pawl", name)));
  for (const holder of holders) holder.exec("BEGIN IMMEDIATE");
  const waiting = ["a", "b", "c"].map((key) => start(server, key));
  const delayMs = await watchHealth(server);
  for (const holder of holders) holder.close();
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
  // A wait for the lock on the thread of all requests took five seconds.
  expect(delayMs).toBeLessThan(3_500);
  server.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});

test("while the disk takes a second for each sync, answers to writes wait and nothing else does", async () => {
  const strace = programOf("strace");
  const cwd = application(FILES);
  const server = await startServer([], { cwd, env: {} });
  expect((await start(server, "first")).status).toBe(202);
  const budget = { per: "total", max_steps: 1_000 };
  const post = (path: string, body: object) =>
    fetch(`${server.url}${path}`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body) });
  expect((await post("/budgets", budget)).status).toBe(200);

  const slow = spawn(strace, ["-f", "-qq", "-p", String(server.pid), ...SLOW_SYNCS], { stdio: "ignore" });
  onTestFinished(() => void slow.kill("SIGKILL"));
  await isTraced(server.pid);
  const began = performance.now();
  // More of them would wait longer than a lock is waited for: each needs several syncs.
  const writes = [
    start(server, "a"),
    post("/workflows", { text: QUESTION.replaceAll("question", "other") }),
    post("/budgets", { ...budget, max_steps: 2_000 }),
  ];
  const delayMs = await watchHealth(server);
  const answers = await Promise.all(writes);
  const tookMs = performance.now() - began;
  slow.kill("SIGINT");
  await once(slow, "exit");
  expect(answers.map(({ status }) => status)).toEqual([202, 201, 200]);
  expect(tookMs).toBeGreaterThan(1_000);
  // Whoever waited for a sync would wait for a second.
  expect(delayMs).toBeLessThan(900);
  server.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});

const JSON_TYPE = { "content-type": "application/json" };
const SLOW_SYNCS = ["-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_exit=1000000"];

/** Resolves when another process looks at what this one asks the system for. */
async function isTraced(pid: number): Promise<void> {
  await expect.poll(() => readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/TracerPid:\t[1-9]/);
}
