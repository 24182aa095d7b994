import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, renameSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";

const SETTINGS = 'agent: { provider: "simulated:answers.yaml" }\n';

function folder(): string {
  return application({ "workflows/question.yaml": QUESTION, "answers.yaml": AT_ONCE, "pawl.yaml": SETTINGS });
}

async function start({ url }: RunningServer): Promise<{ readonly status: number; readonly code: string | undefined }> {
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "question", input: { question: "?" } }),
  });
  const { error } = (await response.json()) as { readonly error: { readonly code: string } | null };
  return { status: response.status, code: error?.code };
}

async function countRuns({ url }: RunningServer, status: string): Promise<number> {
  const response = await fetch(`${url}/runs?status=${status}`);
  const { data } = (await response.json()) as { readonly data: { readonly items: readonly unknown[] } };
  return data.items.length;
}

async function readiness({ url }: RunningServer): Promise<{ readonly status: number; readonly code?: string }> {
  const response = await fetch(`${url}/ready`);
  const { code } = (await response.json()) as { readonly code?: string };
  return { status: response.status, ...(code === undefined ? {} : { code }) };
}

const lostWays: readonly (readonly [string, (data: string) => void])[] = [
  ["the data folder is deleted", (data) => rmSync(data, { recursive: true })],
  [
    "the data folder is replaced by a copy",
    (data) => {
      renameSync(data, `${data}.old`);
      cpSync(`${data}.old`, data, { recursive: true });
    },
  ],
  ["the log is deleted", (data) => rmSync(join(data, "pawl.db-wal"))],
  ["the log is cut", (data) => truncateSync(join(data, "pawl.db-wal"), 0)],
];

test.each(lostWays)(
  "when %s, the server says so and takes nothing that it could not keep",
  async (_, lose) => {
    const cwd = folder();
    const server = await startServer([], { cwd, env: {} });
    expect(await start(server)).toMatchObject({ status: 202 });
    expect(await readiness(server)).toEqual({ status: 200 });
    // A log that is cut while something is written into it is as long as before.
    await expect.poll(() => countRuns(server, "completed")).toBe(1);
    lose(join(cwd, ".pawl"));
    expect(await start(server)).toEqual({ status: 503, code: "DATA_LOST" });
    expect(await readiness(server)).toEqual({ status: 503, code: "DATA_LOST" });
    expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ data: { db: "error" } });
    await server.said("storage: DATA_LOST");
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    server.kill("SIGTERM");
    await server.ended;
  },
  60_000,
);

test("a lock that another program keeps is said within two seconds, and that it is gone", async () => {
  const cwd = folder();
  const server = await startServer([], { cwd, env: {} });
  const holder = new DatabaseSync(join(cwd, ".pawl", "pawl.db"));
  holder.exec("BEGIN IMMEDIATE");
  await server.said("storage: JOURNAL_IO");
  expect(await readiness(server)).toEqual({ status: 503, code: "JOURNAL_IO" });
  holder.close();
  await expect.poll(() => readiness(server)).toEqual({ status: 200 });
  expect(await start(server)).toMatchObject({ status: 202 });
});

test("another program that checkpoints the log loses nothing", async () => {
  const cwd = folder();
  const server = await startServer([], { cwd, env: {} });
  await start(server);
  const other = new DatabaseSync(join(cwd, ".pawl", "pawl.db"));
  await expect
    .poll(() => {
      other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      return statSync(join(cwd, ".pawl", "pawl.db-wal")).size;
    })
    .toBe(0);
  other.close();
  expect(await start(server)).toMatchObject({ status: 202 });
  expect(await readiness(server)).toEqual({ status: 200 });
});

test("a log that is lost while no server runs is said loudly by the next one", async () => {
  const cwd = folder();
  const first = await startServer([], { cwd, env: {} });
  for (let n = 0; n < 5; n += 1) expect(await start(first)).toMatchObject({ status: 202 });
  first.kill("SIGKILL");
  await first.ended;
  truncateSync(join(cwd, ".pawl", "pawl.db-wal"), 0);
  const second = await startServer([], { cwd, env: {} });
  await second.said("5 of the last runs are gone");
  expect(await start(second)).toMatchObject({ status: 202 });
  second.kill("SIGKILL");
  await second.ended;
  const third = await startServer([], { cwd, env: {} });
  third.kill("SIGTERM");
  expect((await third.ended).stderr).not.toContain("gone");
});

test("a full disk is said while nobody writes, and what is sent is refused", async (context) => {
  const cwd = folder();
  const data = join(cwd, ".pawl");
  mkdirSync(data);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", data], { stdio: "pipe" });
  } catch {
    return context.skip("Only root can mount a small disk.");
  }
  onTestFinished(() => void execFileSync("umount", ["-l", data]));
  const server = await startServer([], { cwd, env: {} });
  expect(await start(server)).toMatchObject({ status: 202 });
  try {
    execFileSync("dd", ["if=/dev/zero", `of=${join(data, "filler")}`, "bs=64k"], { stdio: "pipe" });
  } catch {
    // It is full.
  }
  await server.said("storage: JOURNAL_FULL");
  expect(await readiness(server)).toEqual({ status: 503, code: "JOURNAL_FULL" });
  expect(await start(server)).toEqual({ status: 503, code: "JOURNAL_FULL" });
  rmSync(join(data, "filler"));
  await expect.poll(() => readiness(server)).toEqual({ status: 200 });
  expect(await start(server)).toMatchObject({ status: 202 });
});
