import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { gunzipSync, gzipSync } from "node:zlib";
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
  const busy = await pawl(["data", "export", "early.pawl"], { cwd, env });
  expect(busy.stderr).toContain("DATA_LOCKED");
  await end(first);

  const file = join(cwd, "all.pawl");
  const exported = await pawl(["data", "export", "all.pawl", "--json"], { cwd, env });
  expect(exported.stderr).toBe("");
  expect(JSON.parse(exported.stdout).data).toMatchObject({ runs: 4, values: 2, files: 2 });
  expect(existsSync(`${file}.unfinished`)).toBe(false);
  expect((await pawl(["data", "export", "all.pawl"], { cwd, env })).stderr).toContain("BACKUP_EXISTS");
  expect(gunzipSync(readFileSync(file)).toString()).not.toContain("PLANTED-key-4711");

  const shared = { ...env, DATABASE_URL: await newTestDatabase(), PAWL_DATA__DIR: join(cwd, "other") };
  const imported = await pawl(["data", "import", "all.pawl"], { cwd, env: shared });
  expect(imported.stderr).toBe("");
  expect(imported.stdout).toContain("4 runs with ");
  expect(imported.stdout).toContain("; 4 equal histories\n");
  expect((await pawl(["data", "import", "all.pawl"], { cwd, env: shared })).stderr).toContain("DATA_EXISTS");

  const second = await startServer([], { cwd, env: shared });
  // One that went on by itself has more events by now.
  for (const [index, id] of Object.values(runs).entries())
    expect(((await historyOf(second.url, id)) as unknown[]).slice(0, (before[index] as unknown[]).length)).toEqual(
      before[index],
    );
  expect(await (await fetch(`${second.url}/storage/notes/a.txt`)).text()).toBe("A note.");
  expect(await ask(second.url, "/schedules")).toMatchObject({ items: [{ workflow_name: "question" }] });
  expect(JSON.stringify(await ask(second.url, `/runs/${runs.done}`)).includes(LARGE)).toBe(true);
  expect((await pawl(["approve", runs.sealed], { cwd, env: shared })).code).toBe(0);
  await expect.poll(() => statusOf(second.url, runs.sealed)).toBe("completed");
  await expect.poll(() => statusOf(second.url, runs.waiting)).toBe("completed");
  const again = await start(second.url, "review");
  await expect.poll(() => statusOf(second.url, again)).toBe("awaiting_approval");
  const told = await fetch(`${second.url}/events?after=0`, { signal: AbortSignal.timeout(5_000) });
  expect(told.status).toBe(200);
  await told.body?.cancel();
  expect((await pawl(["data", "export", "busy.pawl"], { cwd, env: shared })).stderr).toContain("DATA_LOCKED");
  const middle = await historyOf(second.url, runs.asking);
  await end(second);

  const back = await pawl(["data", "export", "back.pawl"], { cwd, env: shared });
  expect(back.stdout).toContain("back.pawl: 5 runs with ");
  const local = { ...env, PAWL_DATA__DIR: join(cwd, "third") };
  expect((await pawl(["data", "import", "back.pawl"], { cwd, env: local })).stdout).toContain("; 5 equal histories\n");
  const third = await startServer([], { cwd, env: local });
  expect(await historyOf(third.url, runs.asking)).toEqual(middle);
  for (const id of [runs.asking, again]) {
    expect((await pawl(["approve", id], { cwd, env: local })).code).toBe(0);
    await expect.poll(() => statusOf(third.url, id)).toBe("completed");
  }
  expect(await (await fetch(`${third.url}/storage/empty.txt`)).text()).toBe("");
  await end(third);
});

/** A folder with two runs and a stored file, and its export. */
async function exported(): Promise<{
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly lines: string[];
}> {
  const cwd = application({ ...FILES, "note.txt": "A note." });
  const env = { PAWL_SECRETS__KEY: KEY };
  for (const question of ["why", "how"]) await pawl(["run", "question", "-i", `question=${question}`], { cwd, env });
  await pawl(["run", "vault", "-i", "key=PLANTED-key-4711"], { cwd, env });
  await pawl(["storage", "put", "notes/a.txt", "note.txt"], { cwd, env });
  expect((await pawl(["data", "export", "all.pawl"], { cwd, env })).code).toBe(0);
  return { cwd, env, lines: readLines(join(cwd, "all.pawl")) };
}

function readLines(path: string): string[] {
  return gunzipSync(readFileSync(path)).toString().split("\n").slice(0, -1);
}

/** As somebody would write it who knows the format: with the right hash at its end. */
function sealLines(lines: readonly string[]): Buffer {
  const body = lines.slice(0, -1).map((line) => `${line}\n`);
  const end = { ...JSON.parse(lines.at(-1) ?? ""), sha256: createHash("sha256").update(body.join("")).digest("hex") };
  return gzipSync(`${body.join("")}${JSON.stringify(end)}\n`);
}

test("an export that is cut off, changed, of a newer version, or leads out of the storage is refused with its line, and nothing is written", async () => {
  const { cwd, env, lines } = await exported();
  const whole = readFileSync(join(cwd, "all.pawl"));
  const at = (start: string) => lines.findIndex((line) => line.startsWith(start));
  const changed = (line: number, from: string | RegExp, to: string) =>
    lines.with(line, (lines[line] ?? "").replace(from, to));
  const runAt = at('{"table":"runs"') + 1;
  const eventAt = at('{"table":"events"') + 1;
  const fileAt = at('{"file"');
  const byte = Buffer.from(whole);
  byte.writeUInt8(whole.readUInt8(whole.length >> 1) ^ 1, whole.length >> 1);
  const cases: readonly (readonly [name: string, content: Buffer, code: string, says: RegExp])[] = [
    ["cut off", whole.subarray(0, whole.length - 20), "EXPORT_INVALID", /line \d+: it cannot be unpacked/],
    ["cut at a line", gzipSync(`${lines.slice(0, -4).join("\n")}\n`), "EXPORT_INVALID", /ends before its last line/],
    ["one bit", byte, "EXPORT_INVALID", /line \d+: /],
    ["longer", Buffer.concat([whole, Buffer.from("more")]), "EXPORT_INVALID", /cannot be unpacked/],
    ["longer by zeros", Buffer.concat([whole, Buffer.alloc(9)]), "EXPORT_INVALID", /something else follows/],
    ["a second one", Buffer.concat([whole, whole]), "EXPORT_INVALID", /line \d+: /],
    ["a word", gzipSync(`${changed(runAt, "question", "quest1on").join("\n")}\n`), "EXPORT_INVALID", /hash/],
    [
      "a word, and its hash",
      sealLines(changed(runAt, "question", "quest1on")),
      "EXPORT_INVALID",
      /`runs` do not have this hash/,
    ],
    ["an event less", sealLines(lines.toSpliced(eventAt + 1, 1)), "EXPORT_INVALID", /an event is missing before it/],
    [
      "an event changed",
      sealLines(changed(eventAt, /\d{13}/, "1000000000000")),
      "EXPORT_INVALID",
      /do not have this hash/,
    ],
    [
      "a text for a number",
      sealLines(lines.with(runAt, (lines[runAt] ?? "").replace("[1,", '["1",'))),
      "EXPORT_INVALID",
      /no row of `runs`/,
    ],
    ["newer", sealLines(lines.with(0, '{"pawl":"export","version":2}')), "EXPORT_NEWER", /line 1: .*version 2/],
    ["no export", Buffer.from("no export"), "EXPORT_INVALID", /line 1: it cannot be unpacked/],
    ["no export, packed", gzipSync("[]\n"), "EXPORT_INVALID", /line 1: it is no export/],
    ["empty", Buffer.alloc(0), "EXPORT_INVALID", /line \d+: /],
    ...["../../evil", "/etc/evil", "a/../../b", "C:/evil", ".incoming/x", "a\\b"].map(
      (path) =>
        [
          path,
          sealLines(lines.with(fileAt, JSON.stringify({ file: path }))),
          "EXPORT_INVALID",
          /is no path in the storage/,
        ] as const,
    ),
  ];
  for (const [name, content, code, says] of cases) {
    writeFileSync(join(cwd, "bad.pawl"), content);
    const target = { ...env, PAWL_DATA__DIR: join(cwd, "target") };
    const { stdout, stderr } = await pawl(["data", "import", "bad.pawl"], { cwd, env: target });
    expect({ name, code: stderr.includes(code), stderr: says.test(stderr) ? "" : stderr, stdout }).toEqual({
      name,
      code: true,
      stderr: "",
      stdout: "",
    });
    expect(existsSync(join(cwd, "target"))).toBe(false);
    expect(existsSync(join(cwd, "target.importing"))).toBe(false);
  }
  const missing = await pawl(["data", "import", "missing.pawl"], {
    cwd,
    env: { ...env, PAWL_DATA__DIR: join(cwd, "target") },
  });
  expect(missing.stderr).toContain("There is no file ");
});

test("secrets that were sealed with another key are told before anything is written, and the key of a file can be set", async () => {
  const { cwd } = await exported();
  const DATABASE_URL = await newTestDatabase();
  const other = { DATABASE_URL, PAWL_SECRETS__KEY: "another key of 32 characters ...." };
  const refused = await pawl(["data", "import", "all.pawl"], { cwd, env: other });
  expect(refused.stderr).toContain("EXPORT_KEY");
  expect((await pawl(["runs", "ls"], { cwd, env: other })).stdout).not.toContain("question");

  const ownKey = { PAWL_DATA__DIR: join(cwd, "own") };
  const run = await pawl(["run", "vault", "-i", "key=PLANTED-key-4711", "--json"], { cwd, env: ownKey });
  await pawl(["data", "export", "own.pawl"], { cwd, env: ownKey });
  const PAWL_SECRETS__KEY = `hex:${readFileSync(join(cwd, "own", "secrets.key"), "utf8").trim()}`;
  const env = { DATABASE_URL, PAWL_SECRETS__KEY };
  expect((await pawl(["data", "import", "own.pawl"], { cwd, env })).stderr).toBe("");
  const { run_id: id } = JSON.parse(run.stdout).data;
  await pawl(["approve", id], { cwd, env });
  const shown = await pawl(["runs", "show", id, "--json"], { cwd, env });
  expect(JSON.parse(shown.stdout).data.status).toBe("completed");
});

test("nothing is written into a place with data, nor through a link, and a folder that was moved away is free", async () => {
  const { cwd, env } = await exported();
  const into = (dir: string) =>
    pawl(["data", "import", "all.pawl"], { cwd, env: { ...env, PAWL_DATA__DIR: join(cwd, dir) } });
  expect((await into(".pawl")).stderr).toContain("DATA_EXISTS");
  await pawl(["storage", "put", "note.txt", "note.txt"], { cwd, env: { ...env, PAWL_DATA__DIR: join(cwd, "files") } });
  expect((await into("files")).stderr).toContain("DATA_EXISTS");
  const shared = { ...env, DATABASE_URL: await newTestDatabase(), PAWL_DATA__DIR: join(cwd, "linked") };
  mkdirSync(join(cwd, "linked", "storage"), { recursive: true });
  mkdirSync(join(cwd, "elsewhere"));
  symlinkSync(join(cwd, "elsewhere"), join(cwd, "linked", "storage", "notes"));
  const linked = await pawl(["data", "import", "all.pawl"], { cwd, env: shared });
  expect(linked.stderr).toContain("STORAGE_PATH_INVALID");
  expect(existsSync(join(cwd, "elsewhere", "a.txt"))).toBe(false);
  rmSync(join(cwd, "linked", "storage", "notes"));
  await pawl(["storage", "put", "notes/a.txt", "all.pawl"], { cwd, env: shared });
  expect((await pawl(["data", "import", "all.pawl"], { cwd, env: shared })).stderr).toContain(
    'another file "notes/a.txt"',
  );
  expect((await into("new")).stdout).toContain("; 3 equal histories");
});

test("an import that is killed leaves an empty place, and is done again", async () => {
  const { cwd, env, lines } = await exported();
  // So many schedules that it takes a while.
  const table = lines.findIndex((line) => line.startsWith('{"table":"idempotency_keys"'));
  const rows = Array.from({ length: 60_000 }, (_, n) =>
    JSON.stringify(["", `key-${String(n).padStart(9, "0")}`, "hash", "run", n]),
  );
  const sha256 = createHash("sha256")
    .update(rows.map((row) => `${row}\n`).join(""))
    .digest("hex");
  const end = JSON.stringify({ end: "idempotency_keys", rows: rows.length, sha256 });
  writeFileSync(
    join(cwd, "large.pawl"),
    sealLines([...lines.slice(0, table + 1), ...rows, end, ...lines.slice(table + 2)]),
  );
  const url = await newTestDatabase();
  const service = join(cwd, "target.importing", "service.db-wal");
  const places: readonly { more: Record<string, string>; isBusy(): Promise<boolean> }[] = [
    { more: { DATABASE_URL: url, PAWL_DATA__DIR: join(cwd, "scratch") }, isBusy: () => areTablesHeld(url) },
    {
      more: { PAWL_DATA__DIR: join(cwd, "target") },
      isBusy: async () => existsSync(service) && statSync(service).size > 1_000_000,
    },
  ];
  for (const { more, isBusy } of places) {
    const options = { cwd, env: { ...env, ...more } };
    const importing = startPawl(["data", "import", "large.pawl"], options);
    const isOver = importing.ended.then(() => true);
    while (!(await isBusy())) if (await Promise.race([isOver, setTimeout(10, false)])) break;
    importing.kill("SIGKILL");
    expect((await importing.ended).stdout).toBe("");
    expect((await pawl(["runs", "ls"], options)).stdout).not.toContain("question");
    const again = await pawl(["data", "import", "large.pawl"], options);
    expect(again.stderr).toBe("");
    expect(again.stdout).toContain("3 runs with ");
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

test("values and files go into a bucket, and out of it again", async () => {
  const { cwd, env } = await exported();
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
  await pawl(["data", "export", "more.pawl"], { cwd, env });
  expect((await pawl(["data", "import", "more.pawl"], { cwd, env: s3 })).stdout).toContain("; 4 equal histories");
  const bucket = await openBucket(store.endpoint, s3.STORAGE_BUCKET);
  expect((await bucket.get("files/notes/a.txt"))?.content.toString()).toBe("A note.");
  await pawl(["data", "export", "back.pawl"], { cwd, env: s3 });
  const local = { ...env, PAWL_DATA__DIR: join(cwd, "local") };
  expect((await pawl(["data", "import", "back.pawl"], { cwd, env: local })).stdout).toContain("; 4 equal histories");
  expect(readFileSync(join(cwd, "local", "storage", "large.txt")).length).toBe(60 * LARGE.length);
  expect(existsSync(join(cwd, "local", "storage", "notes", "a.txt"))).toBe(true);
});
