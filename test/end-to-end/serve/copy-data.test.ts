import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBucket, S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { AT_ONCE, application, QUESTION, REVIEW } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { type RunningServer, startServer } from "../support/server.ts";

const LARGE = "x".repeat(200_000);

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "workflows/later.yaml": `
workflowId: later
startAt: rest
steps:
  rest: {type: control, subtype: wait, duration: 5s, transitions: {onSuccess: again}}
  again: {type: control, subtype: wait, duration: 10ms, transitions: {end: true}}
`,
  "workflows/vault.yaml": `
name: vault
input_schema: {properties: {key: {type: string, secret: true}}}
steps:
  - id: look
    type: approval
    approval_config: {message: "Is it good?"}
  - {id: answer, prompt: "{input.key}", depends_on: [look]}
`,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

const KEY = "0123456789abcdef0123456789abcdef";

async function ask<T>(url: string, path: string, body?: object): Promise<T> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, body === undefined ? {} : init);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { readonly data: T }).data;
}

async function start(url: string, workflow: string, input: object = {}): Promise<string> {
  return (await ask<{ run_id: string }>(url, "/workflows/run", { workflow, input })).run_id;
}

async function statusOf(url: string, id: string): Promise<string> {
  return (await ask<{ status: string }>(url, `/runs/${id}`)).status;
}

async function historyOf(url: string, id: string): Promise<unknown> {
  return (await ask<{ items: unknown }>(url, `/runs/${id}/events?limit=500`)).items;
}

async function end(server: RunningServer): Promise<void> {
  server.kill("SIGTERM");
  await server.ended;
}

/** What is in a folder: runs of each kind, a schedule, a key, a saved workflow, a stored file, a large value. */
async function fill(url: string) {
  const done = await start(url, "question", { question: LARGE });
  const asking = await start(url, "review");
  const sealed = await start(url, "vault", { key: "PLANTED-key-4711" });
  await fetch(`${url}/storage/notes/a.txt`, { method: "PUT", body: "A note." });
  await fetch(`${url}/storage/empty.txt`, { method: "PUT", body: "" });
  await ask(url, "/schedules", { workflow_name: "question", cron_expression: "0 0 1 1 *" });
  await expect.poll(() => statusOf(url, done)).toBe("completed");
  for (const id of [asking, sealed]) await expect.poll(() => statusOf(url, id)).toBe("awaiting_approval");
  const waiting = await start(url, "later");
  await expect.poll(() => statusOf(url, waiting)).toBe("waiting");
  return { done, asking, sealed, waiting };
}

test("runs go on in a database where they stopped in a data folder, and the other way round, with equal histories", async () => {
  const cwd = application(FILES);
  const env = { PAWL_SECRETS__KEY: KEY };
  const first = await startServer([], { cwd, env });
  const runs = await fill(first.url);
  const before = await Promise.all(Object.values(runs).map((id) => historyOf(first.url, id)));
  const shared = { ...env, DATABASE_URL: await newTestDatabase(), PAWL_DATA__DIR: join(cwd, "other") };
  expect((await pawl(["db", "copy", ".pawl"], { cwd, env: shared })).stderr).toContain("DATA_LOCKED");
  await end(first);
  const copied = await pawl(["db", "copy", ".pawl", "--json"], { cwd, env: shared });
  expect(copied.stderr).toBe("");
  expect(JSON.parse(copied.stdout).data).toMatchObject({ runs: 4, values: 2, files: 2 });
  expect((await pawl(["db", "copy", ".pawl"], { cwd, env: shared })).stderr).toContain("DATA_EXISTS");

  const second = await startServer([], { cwd, env: shared });
  // One that went on by itself has more events by now.
  for (const [index, id] of Object.values(runs).entries())
    expect(((await historyOf(second.url, id)) as unknown[]).slice(0, (before[index] as unknown[]).length)).toEqual(
      before[index],
    );
  expect(await (await fetch(`${second.url}/storage/notes/a.txt`)).text()).toBe("A note.");
  expect(await ask(second.url, "/schedules")).toMatchObject({ items: [{ workflow_name: "question" }] });
  expect(JSON.stringify(await ask(second.url, `/runs/${runs.done}?whole=true`)).includes(LARGE)).toBe(true);
  expect((await pawl(["approve", runs.sealed], { cwd, env: shared })).code).toBe(0);
  await expect.poll(() => statusOf(second.url, runs.sealed)).toBe("completed");
  await expect.poll(() => statusOf(second.url, runs.waiting)).toBe("completed");
  const again = await start(second.url, "review");
  await expect.poll(() => statusOf(second.url, again)).toBe("awaiting_approval");
  const told = await fetch(`${second.url}/events?after=0`, { signal: AbortSignal.timeout(5_000) });
  expect(told.status).toBe(200);
  await told.body?.cancel();
  const local = { ...env, PAWL_DATA__DIR: join(cwd, "third") };
  const back = (files: string) => pawl(["db", "copy", shared.DATABASE_URL, "--files", files], { cwd, env: local });
  expect((await back("other")).stderr).toContain("DATA_LOCKED");
  const middle = await historyOf(second.url, runs.asking);
  await end(second);

  expect((await back("no-values")).stderr).toContain("BLOB_MISSING");
  expect((await back("other")).stdout).toContain(": 5 runs with ");
  const third = await startServer([], { cwd, env: local });
  expect(await historyOf(third.url, runs.asking)).toEqual(middle);
  for (const id of [runs.asking, again]) {
    expect((await pawl(["approve", id], { cwd, env: local })).code).toBe(0);
    await expect.poll(() => statusOf(third.url, id)).toBe("completed");
  }
  expect(await (await fetch(`${third.url}/storage/empty.txt`)).text()).toBe("");
  await end(third);
});

/** A folder with three runs and a stored file. */
async function filled(): Promise<{ readonly cwd: string; readonly env: Record<string, string> }> {
  const cwd = application({ ...FILES, "note.txt": "A note." });
  const env = { PAWL_SECRETS__KEY: KEY };
  for (const question of ["why", "how"]) await pawl(["run", "question", "-i", `question=${question}`], { cwd, env });
  await pawl(["run", "vault", "-i", "key=PLANTED-key-4711"], { cwd, env });
  await pawl(["storage", "put", "notes/a.txt", "note.txt"], { cwd, env });
  return { cwd, env };
}

test("secrets that were sealed with another key are refused, and the key of a folder is taken over or can be set", async () => {
  const { cwd } = await filled();
  const DATABASE_URL = await newTestDatabase();
  const other = {
    DATABASE_URL,
    PAWL_DATA__DIR: join(cwd, "other"),
    PAWL_SECRETS__KEY: "another key of 32 characters ....",
  };
  expect((await pawl(["db", "copy", ".pawl"], { cwd, env: other })).stderr).toContain("SECRET_UNREADABLE");
  expect((await pawl(["runs", "ls"], { cwd, env: other })).stdout).not.toContain("question");

  const run = await pawl(["run", "vault", "-i", "key=PLANTED-key-4711", "--json", "--data", "own"], { cwd });
  const { run_id: id } = JSON.parse(run.stdout).data;
  const PAWL_SECRETS__KEY = `hex:${readFileSync(join(cwd, "own", "secrets.key"), "utf8").trim()}`;
  const places: readonly Record<string, string>[] = [
    { DATABASE_URL, PAWL_SECRETS__KEY },
    { PAWL_DATA__DIR: join(cwd, "copy") },
  ];
  for (const env of places) {
    expect((await pawl(["db", "copy", "own"], { cwd, env })).stdout).toContain(": 1 runs with ");
    await pawl(["approve", id], { cwd, env });
    const shown = await pawl(["runs", "show", id, "--json"], { cwd, env });
    expect(JSON.parse(shown.stdout).data.status).toBe("completed");
  }
});

test("nothing is copied from an empty place, into a place with data, nor through a link", async () => {
  const { cwd, env } = await filled();
  const into = (dir: string, from = ".pawl") =>
    pawl(["db", "copy", from], { cwd, env: { ...env, PAWL_DATA__DIR: join(cwd, dir) } });
  expect((await into(".pawl")).stderr).toContain("DATA_EXISTS");
  expect((await into("new", "nothing")).stderr).toContain("BACKUP_INVALID");
  await pawl(["storage", "put", "note.txt", "note.txt"], { cwd, env: { ...env, PAWL_DATA__DIR: join(cwd, "files") } });
  expect((await into("files")).stderr).toContain("DATA_EXISTS");
  const shared = { ...env, DATABASE_URL: await newTestDatabase(), PAWL_DATA__DIR: join(cwd, "linked") };
  mkdirSync(join(cwd, "linked", "storage"), { recursive: true });
  mkdirSync(join(cwd, "elsewhere"));
  symlinkSync(join(cwd, "elsewhere"), join(cwd, "linked", "storage", "notes"));
  expect((await pawl(["db", "copy", ".pawl"], { cwd, env: shared })).stderr).toContain("STORAGE_PATH_INVALID");
  expect(existsSync(join(cwd, "elsewhere", "a.txt"))).toBe(false);
  rmSync(join(cwd, "linked", "storage", "notes"));
  await pawl(["storage", "put", "notes/a.txt", "pawl.yaml"], { cwd, env: shared });
  expect((await pawl(["db", "copy", ".pawl"], { cwd, env: shared })).stderr).toContain('another file "notes/a.txt"');
  expect((await into("new")).stdout).toContain(": 3 runs with ");
});

test("a copy that is killed leaves an empty place, and is done again", async () => {
  const { cwd, env } = await filled();
  // So many rows that it takes a while.
  const service = new DatabaseSync(join(cwd, ".pawl", "service.db"));
  service.exec(`WITH RECURSIVE each (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM each WHERE n < 60000)
    INSERT INTO idempotency_keys (tenant_id, key, request_hash, run_id, at) SELECT '', 'key-' || n, 'hash', 'run', n FROM each`);
  service.close();
  const url = await newTestDatabase();
  const log = join(cwd, "target.copying", "service.db-wal");
  const places: readonly { more: Record<string, string>; isBusy(): Promise<boolean> }[] = [
    { more: { DATABASE_URL: url, PAWL_DATA__DIR: join(cwd, "scratch") }, isBusy: () => areTablesHeld(url) },
    {
      more: { PAWL_DATA__DIR: join(cwd, "target") },
      isBusy: async () => existsSync(log) && statSync(log).size > 1_000_000,
    },
  ];
  for (const { more, isBusy } of places) {
    const options = { cwd, env: { ...env, ...more } };
    const copying = startPawl(["db", "copy", ".pawl"], options);
    const isOver = copying.ended.then(() => true);
    while (!(await isBusy())) if (await Promise.race([isOver, setTimeout(10, false)])) break;
    copying.kill("SIGKILL");
    expect((await copying.ended).stdout).toBe("");
    expect((await pawl(["runs", "ls"], options)).stdout).not.toContain("question");
    if (more["DATABASE_URL"] === undefined) rmSync(join(cwd, "target"), { recursive: true, force: true });
    expect((await pawl(["db", "copy", ".pawl"], options)).stdout).toContain(": 3 runs with ");
    expect((await pawl(["runs", "ls"], options)).stdout).toContain("question");
  }
});

/** Whether somebody has begun to write rows. */
async function areTablesHeld(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const text =
      "SELECT 1 FROM pg_locks WHERE mode = 'ExclusiveLock' AND locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    return ((await client.query(text)).rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}

let store: S3Server;
beforeAll(async () => {
  store = await startS3Server();
});
afterAll(() => store.stop());

test("values and files go into a bucket, which a copy of the database then uses too", async () => {
  const { cwd, env } = await filled();
  const s3 = {
    ...env,
    DATABASE_URL: await newTestDatabase(),
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: await store.makeBucket(),
    STORAGE_ENDPOINT: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    PAWL_DATA__DIR: join(cwd, "scratch"),
  };
  writeFileSync(join(cwd, "large.txt"), LARGE.repeat(60));
  await pawl(["run", "question", "-i", `question=${LARGE}`], { cwd, env });
  await pawl(["storage", "put", "large.txt", "large.txt"], { cwd, env });
  expect(await pawl(["db", "copy", ".pawl"], { cwd, env: s3 })).toMatchObject({
    stderr: expect.stringContaining("Start nothing on the old data"),
    stdout: expect.stringContaining(": 4 runs with "),
  });
  const bucket = await openBucket(store.endpoint, s3.STORAGE_BUCKET);
  expect((await bucket.get("files/notes/a.txt"))?.content.toString()).toBe("A note.");
  expect((await pawl(["storage", "get", "large.txt"], { cwd, env: s3 })).stdout.length).toBeGreaterThanOrEqual(
    60 * LARGE.length,
  );
  const { DATABASE_URL, ...more } = { ...s3, PAWL_DATA__DIR: join(cwd, "local") };
  const back = await pawl(["db", "copy", DATABASE_URL], { cwd, env: more });
  expect(back.stdout).toMatch(/: 4 runs with .*, [1-9] values, 0 files/);
  expect((await pawl(["storage", "get", "notes/a.txt"], { cwd, env: more })).stdout).toContain("A note.");
});
