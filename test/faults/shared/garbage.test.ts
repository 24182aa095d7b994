import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { pawl } from "../../end-to-end/support/pawl.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { type FaultyStore, startFaultyStore } from "../../support/s3-faults.ts";
import { openBucket, S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const QUESTION = `
name: question
steps:
  - {id: answer, prompt: "{input.question}"}
  - {id: again, prompt: "{steps.answer.output}", depends_on: [answer]}
`;

const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": 'delay_ms: 0\nsteps:\n  answer: {reply: "42"}\n  again: {reply: "43"}\n',
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

const GARBAGE = "0".repeat(64);
const RUNS = 60;
const COLLECTIONS = 4;

let server: S3Server;
let store: FaultyStore;

beforeAll(async () => {
  server = await startS3Server();
  store = await startFaultyStore(server.endpoint);
});
afterAll(async () => {
  await store.stop();
  await server.stop();
});

async function shared() {
  return { DATABASE_URL: await newTestDatabase(), PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
}

async function start(url: string, question: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ workflow: "question", input: { question } });
  const answer = await fetch(`${url}/workflows/run`, { method: "POST", headers, body });
  return ((await answer.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
}

const textOf = (n: number) => `${n} ${"large".repeat(30_000)}`;

/** Starts runs with large values while `gc` is called again and again, and looks whether each has its values in the end. */
async function collectBesideRuns(cwd: string, env: Record<string, string>): Promise<readonly string[]> {
  const running = await startServer([], { cwd, env });
  const ids: string[] = [];
  const starting = (async () => {
    for (let n = 0; n < RUNS; n += 1) ids.push(await start(running.url, textOf(n)));
  })();
  const said: string[] = [];
  for (let n = 0; n < COLLECTIONS; n += 1) {
    const { stdout, stderr } = await pawl(["gc", "--json"], { cwd, env });
    said.push(stdout + stderr);
  }
  await starting;
  for (const [n, id] of ids.entries()) {
    const read = async () => (await fetch(`${running.url}/runs/${id}?whole=true`)).text();
    await expect.poll(read, { timeout: 30_000 }).toContain('"status":"completed"');
    expect((await read()).includes(textOf(n)), `run ${n} has its input`).toBe(true);
  }
  running.kill("SIGTERM");
  await running.ended;
  return said;
}

test("gc removes what nothing in the database refers to from the bucket, and nothing that runs beside it are about to refer to", async () => {
  const bucket = await server.makeBucket();
  const env = {
    ...(await shared()),
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: bucket,
    STORAGE_ENDPOINT: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  };
  const cwd = application(FILES);
  const direct = await openBucket(server.endpoint, bucket);
  await direct.put(`blobs/${GARBAGE}`, "garbage");
  // Each list tells of values as if they were old. What becomes of one since, only a look at it says.
  store.fault = ({ method, path }) =>
    path.includes("list-type") || (method === "HEAD" && path.includes(GARBAGE)) ? "old" : undefined;
  const said = await collectBesideRuns(cwd, env);
  expect(said.join("")).toContain('"blobs":1,');
  expect(await direct.head(`blobs/${GARBAGE}`)).toBeUndefined();

  // Values of runs that are there stay though they are old, and those of a run that was removed go.
  store.fault = ({ method, path }) => (method === "HEAD" || path.includes("list-type") ? "old" : undefined);
  expect((await pawl(["gc", "--json"], { cwd, env })).stdout).toContain('"blobs":0,');
  const { items } = JSON.parse((await pawl(["runs", "ls", "--json"], { cwd, env })).stdout).data;
  expect((await pawl(["runs", "rm", items[0].run_id], { cwd, env })).code).toBe(0);
  expect((await pawl(["gc", "--json", "--dry-run"], { cwd, env })).stdout).toMatch(/"blobs":[1-9]/);
  expect((await pawl(["gc", "--json"], { cwd, env })).stdout).toMatch(/"blobs":[1-9]/);
  store.fault = undefined;
  expect((await pawl(["runs", "show", items[1].run_id, "--whole", "--json"], { cwd, env })).stdout).toContain(
    "largelarge",
  );
});

test("gc removes what nothing in the database refers to from the folder of values, beside runs", async () => {
  const cwd = application(FILES);
  const folder = join(cwd, ".pawl", "blobs");
  mkdirSync(join(folder, "00"), { recursive: true });
  const garbage = join(folder, "00", GARBAGE.slice(2));
  writeFileSync(garbage, "garbage");
  const anHourAgo = new Date(Date.now() - 4_000_000);
  utimesSync(garbage, anHourAgo, anHourAgo);
  const env = await shared();
  const said = await collectBesideRuns(cwd, env);
  expect(said.join("")).toContain('"blobs":1,');
  expect(readdirSync(join(folder, "00"))).not.toContain(GARBAGE.slice(2));
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of all) utimesSync(join(parentPath, name), anHourAgo, anHourAgo);
  expect((await pawl(["gc", "--json"], { cwd, env })).stdout).toContain('"blobs":0,');
});

test("gc clears what commands have left of runs that are over, where files lie in a bucket", async () => {
  const env = {
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: await server.makeBucket(),
    STORAGE_ENDPOINT: server.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
  };
  const cwd = application(FILES);
  const ran = await pawl(["run", "question", "-i", "question=why", "--json"], { cwd, env });
  const work = join(cwd, ".pawl", "work", "artifacts");
  const over = JSON.parse(ran.stdout).data.run_id;
  const anHourAgo = new Date(Date.now() - 4_000_000);
  const leave = (run: string, at: Date) => {
    mkdirSync(join(work, run, "files"), { recursive: true });
    writeFileSync(join(work, run, "files", "left.txt"), "left");
    for (const path of [join(work, run, "files", "left.txt"), join(work, run, "files"), join(work, run)])
      utimesSync(path, at, at);
  };
  leave(over, anHourAgo);
  leave("of-no-run", anHourAgo);
  leave("young", new Date());
  expect((await pawl(["gc", "--json", "--dry-run"], { cwd, env })).stdout).toContain('"bytes":8');
  expect(readdirSync(work)).toHaveLength(3);
  expect((await pawl(["gc", "--json"], { cwd, env })).stdout).toContain('"bytes":8');
  expect(readdirSync(work)).toEqual(["young"]);
});
