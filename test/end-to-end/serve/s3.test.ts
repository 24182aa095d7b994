import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import packageJson from "../../../package.json" with { type: "json" };
import { type FaultyStore, startFaultyStore } from "../../support/s3-faults.ts";
import { openBucket, S3_KEYS, type S3Server, startS3Server } from "../../support/s3-server.ts";
import { application } from "../support/application.ts";
import { pawl, startPawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const LARGE = "large".repeat(30_000);

const WORKFLOW = `
name: report
steps:
  - id: rows
    prompt: "After {storage.notes/before.txt}: {input.n}"
    csv_output: { directory: out, filename: all, mode: append }
  - id: large
    depends_on: [rows]
    prompt: Write a lot.
on_complete:
  storage_path: results/{run_id}.json
`;

const ANSWERS = `
delay_ms: 0
steps:
  rows: {reply: [{name: one}, {name: two}]}
  large: {reply: "${LARGE}"}
`;

const FILES = {
  "workflows/report.yaml": WORKFLOW,
  "answers.yaml": ANSWERS,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

let server: S3Server;
let store: FaultyStore;

beforeAll(async () => {
  server = await startS3Server();
  store = await startFaultyStore(server.endpoint);
});
beforeEach(() => {
  store.fault = undefined;
});
afterAll(async () => {
  await store.stop();
  await server.stop();
});

function environment(bucket: string, more: Readonly<Record<string, string>> = {}) {
  return {
    STORAGE_BACKEND: "s3",
    STORAGE_BUCKET: bucket,
    STORAGE_ENDPOINT: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    ...more,
  };
}

async function start(url: string, n: number): Promise<string> {
  const body = JSON.stringify({ workflow: "report", input: { n } });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/workflows/run`, { method: "POST", headers, body });
  const { data } = (await response.json()) as { readonly data: { readonly run_id: string } };
  return data.run_id;
}

async function dataOf<T>(url: string): Promise<T> {
  return ((await (await fetch(url)).json()) as { readonly data: T }).data;
}

const statusOf = async (url: string, id: string) =>
  (await dataOf<{ readonly status: string }>(`${url}/runs/${id}`)).status;

async function keysOf(bucket: string, prefix = ""): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of (await openBucket(server.endpoint, bucket, { prefix })).list("")) keys.push(key);
  return keys;
}

test("everything large and every file of a run is in the bucket, is read back from it, and is not in the data folder", async () => {
  const bucket = await server.makeBucket();
  const cwd = application(FILES);
  const env = environment(bucket, { STORAGE_PREFIX: "production/pawl" });
  const served = await startServer([], { cwd, env });
  await fetch(`${served.url}/storage/notes/before.txt`, { method: "PUT", body: "a note" });
  const ids = [await start(served.url, 1)];
  await expect.poll(() => statusOf(served.url, ids[0] ?? "")).toBe("completed");
  ids.push(await start(served.url, 2));
  for (const id of ids) await expect.poll(() => statusOf(served.url, id)).toBe("completed");

  const first = ids[0] ?? "";
  const { outputs } = await dataOf<{ readonly outputs: { readonly large: string } }>(
    `${served.url}/runs/${first}?whole=true`,
  );
  expect(outputs.large === LARGE).toBe(true);
  const shown = await pawl(["runs", "show", first, "--prompts", "--json"], { cwd, env });
  expect(shown.stdout).toContain("After a note: 1");
  expect(await (await fetch(`${served.url}/storage/out/all.csv`)).text()).toBe("name\r\none\r\ntwo\r\none\r\ntwo\r\n");
  const stored = await pawl(["storage", "get", `results/${first}.json`], { cwd, env });
  expect((JSON.parse(stored.stdout) as { readonly large: string }).large === LARGE).toBe(true);
  const listed = await pawl(["storage", "ls", `artifacts/${first}/`, "--json"], { cwd, env });
  const [artifact] = (JSON.parse(listed.stdout) as { data: { items: { path: string }[] } }).data.items;
  expect(artifact?.path).toMatch(/all.*\.csv$/);
  expect((await pawl(["storage", "get", artifact?.path ?? ""], { cwd, env })).stdout).toBe("name\r\none\r\ntwo\r\n");
  expect(await (await fetch(`${served.url}/health`)).json()).toMatchObject({ status: "ok", data: { storage: "ok" } });
  expect((await fetch(`${served.url}/ready`)).status).toBe(200);
  served.kill("SIGTERM");
  await served.ended;

  const data = join(cwd, ".pawl");
  for (const folder of ["blobs", "storage"]) {
    const held = existsSync(join(data, folder)) ? readdirSync(join(data, folder)) : [];
    expect(held.filter((name) => name !== "incoming" && name !== ".incoming")).toEqual([]);
  }
  const keys = await keysOf(bucket);
  expect(keys.every((key) => key.startsWith("production/pawl/"))).toBe(true);
  for (const kind of ["blobs", "files", "owners"])
    expect(keys.some((key) => key.startsWith(`production/pawl/${kind}/`))).toBe(true);
  // A new process reads what another one has written.
  const again = await pawl(["runs", "show", first, "--whole", "--json"], { cwd, env });
  expect(again.stdout).toContain(LARGE.slice(0, 1_000));
});

test("while the bucket fails a run waits with what it has paid for, and goes on by itself", async () => {
  const bucket = await server.makeBucket();
  const cwd = application(FILES);
  const served = await startServer([], { cwd, env: environment(bucket, { PAWL_STORAGE__TIMEOUT_MS: "500" }) });
  await fetch(`${served.url}/storage/notes/before.txt`, { method: "PUT", body: "a note" });
  store.fault = () => ({ status: 500, code: "InternalError" });
  const id = await start(served.url, 1);
  await expect.poll(async () => (await fetch(`${served.url}/ready`)).status).toBe(503);
  expect(await (await fetch(`${served.url}/ready`)).json()).toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  expect(await (await fetch(`${served.url}/health`)).json()).toMatchObject({ data: { storage: "error" } });
  expect((await fetch(`${served.url}/storage/notes/before.txt`)).status).toBe(503);
  expect(["queued", "running"]).toContain(await statusOf(served.url, id));
  store.fault = undefined;
  await expect.poll(() => statusOf(served.url, id), { timeout: 60_000 }).toBe("completed");

  const { steps } = await dataOf<{ steps: { path: string; attempt: number }[] }>(`${served.url}/runs/${id}`);
  expect(steps.filter(({ path }) => path === "large")).toMatchObject([{ attempt: 1 }]);
  await expect.poll(async () => (await fetch(`${served.url}/storage/results/${id}.json`)).status).toBe(200);
  served.kill("SIGTERM");
  const { stderr } = await served.ended;
  expect(stderr).not.toMatch(new RegExp(`${S3_KEYS.secretAccessKey}|Signature=`));
});

test("`pawl run` waits for a bucket that fails for a while", async () => {
  const cwd = application(FILES);
  const env = environment(await server.makeBucket(), { PAWL_STORAGE__TIMEOUT_MS: "300" });
  await pawl(["storage", "put", "notes/before.txt", "answers.yaml"], { cwd, env });
  store.fault = () => ({ status: 503, code: "SlowDown" });
  const running = startPawl(["run", "report", "-i", "n=1"], { cwd, env });
  await running.said("the run stands still: STORAGE_UNAVAILABLE");
  store.fault = undefined;
  expect(await running.ended).toMatchObject({ code: 0, stderr: expect.stringContaining("the run goes on") });
});

test("a run goes on with values that lie in the data folder after the bucket was switched on", async () => {
  const cwd = application(FILES);
  await pawl(["storage", "put", "notes/before.txt", "answers.yaml"], { cwd });
  const { stdout } = await pawl(["run", "report", "-i", "n=1", "--json"], { cwd });
  const { run_id: id } = (JSON.parse(stdout) as { data: { run_id: string } }).data;
  const env = environment(await server.makeBucket());
  expect((await pawl(["runs", "show", id, "--whole", "--json"], { cwd, env })).stdout).toContain(LARGE.slice(0, 1_000));
  expect(await pawl(["runs", "rerun", id, "--from", "large"], { cwd, env })).toMatchObject({ code: 0 });
});

test("nothing begins that could not be kept: a bucket that refuses is told before the first step", async () => {
  const cwd = application(FILES);
  const refused = { code: 1, stderr: expect.stringMatching(/STORAGE_REFUSED[\s\S]*STORAGE_BUCKET/) };
  expect(await pawl(["run", "report", "-i", "n=1"], { cwd, env: environment("not-there") })).toMatchObject(refused);
  expect(await startPawl(["serve", "--port", "0"], { cwd, env: environment("not-there") }).ended).toMatchObject(
    refused,
  );
  const { stdout } = await pawl(["runs", "ls", "--json"], { cwd });
  expect((JSON.parse(stdout) as { data: { items: unknown[] } }).data.items).toEqual([]);
});

test("doctor shows what is wrong with the bucket and which setting it is about, and no secret", async () => {
  const cwd = application(FILES);
  const bucket = await server.makeBucket();
  const said = async (env: Readonly<Record<string, string>>) => {
    const { stdout, stderr } = await pawl(["doctor"], { cwd, env });
    expect(stdout + stderr).not.toContain(S3_KEYS.secretAccessKey);
    return stdout + stderr;
  };
  expect(await said(environment(bucket))).toMatch(/storage: the bucket .* can be written/);
  expect(await said(environment("not-there"))).toMatch(/storage: .*no such bucket[\s\S]*STORAGE_BUCKET/);
  expect(await said({ STORAGE_BACKEND: "s3" })).toMatch(/STORAGE_BUCKET/);
  expect(await said(environment(bucket, { STORAGE_ENDPOINT: "localhost:9000" }))).toMatch(/STORAGE_ENDPOINT/);
  const withPassword = environment(bucket, { STORAGE_ENDPOINT: "http://me:pass-in-address@127.0.0.1:1" });
  const told = await said(withPassword);
  expect(told).toMatch(/STORAGE_ENDPOINT/);
  const config = await pawl(["config", "--origin"], { cwd, env: withPassword });
  expect(told + config.stdout + config.stderr).not.toContain("pass-in-address");
  expect(config.stdout).toContain("STORAGE_BUCKET");
  expect(await said(environment(bucket, { AWS_SECRET_ACCESS_KEY: "" }))).toMatch(/AWS_SECRET_ACCESS_KEY/);
  store.fault = () => ({ status: 403, code: "AccessDenied" });
  expect(await said(environment(bucket))).toMatch(/storage: .*403 AccessDenied[\s\S]*AWS_ACCESS_KEY_ID/);
  store.fault = undefined;
});

test("without the package of the client a command says which one to install", async () => {
  const cwd = application(FILES);
  const hook = `
    import { registerHooks } from "node:module";
    registerHooks({ resolve(name, context, next) {
      if (name !== "@aws-sdk/client-s3") return next(name, context);
      throw Object.assign(new Error("Cannot find package " + name), { code: "ERR_MODULE_NOT_FOUND" });
    } });`;
  const env = environment("any", { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` });
  const { code, stderr } = await startPawl(["storage", "ls"], { cwd, env }).ended;
  expect(code).toBe(1);
  expect(stderr).toContain("PACKAGE_MISSING");
  const version = (packageJson.peerDependencies as Readonly<Record<string, string>>)["@aws-sdk/client-s3"];
  expect(stderr).toContain(`npm install --save-exact @aws-sdk/client-s3@${version}`);
});

test("gc clears the bucket up, refuses where other data uses it too, and a backup says what it lacks", async () => {
  const bucket = await server.makeBucket();
  const env = environment(bucket);
  const cwd = application(FILES);
  await pawl(["storage", "put", "notes/before.txt", "answers.yaml"], { cwd, env });
  const ids: string[] = [];
  for (const n of [1, 2]) {
    const { stdout, code } = await pawl(["run", "report", "-i", `n=${n}`, "--json"], { cwd, env });
    expect(code, stdout.slice(0, 2_000)).toBe(0);
    ids.push((JSON.parse(stdout) as { data: { run_id: string } }).data.run_id);
  }
  const garbage = await openBucket(server.endpoint, bucket);
  await garbage.put(`blobs/${"0".repeat(64)}`, "garbage");
  const gc = async (...args: string[]) => pawl(["gc", "--json", ...args], { cwd, env });
  const before = (await keysOf(bucket)).filter((key) => key.startsWith("blobs/"));
  expect(JSON.parse((await gc()).stdout).data).toMatchObject({ blobs: 0 });
  store.fault = ({ method, path }) =>
    method === "HEAD" || (method === "GET" && path.includes("list-type")) ? "old" : undefined;
  expect(JSON.parse((await gc("--dry-run")).stdout).data).toMatchObject({ blobs: 1, bytes: 7 });
  expect(JSON.parse((await gc()).stdout).data).toMatchObject({ blobs: 1, bytes: 7 });
  const after = (await keysOf(bucket)).filter((key) => key.startsWith("blobs/"));
  expect(after).toEqual(before.filter((key) => !key.endsWith("0".repeat(64))));

  const backup = await pawl(["backup", join(cwd, "copy")], { cwd, env });
  expect(backup).toMatchObject({ code: 0, stderr: expect.stringContaining(`the bucket "${bucket}"`) });
  const other = application(FILES);
  await pawl(["storage", "put", "notes/before.txt", "answers.yaml"], { cwd: other, env });
  expect(await pawl(["run", "report", "-i", "n=3"], { cwd: other, env })).toMatchObject({ code: 0 });
  expect((await gc()).stdout + (await gc()).stderr).toContain("STORAGE_SHARED");
  // What is restored elsewhere is the same data.
  const restored = application(FILES);
  expect((await pawl(["restore", join(cwd, "copy")], { cwd: restored, env })).stderr).toContain(bucket);
  const shown = await pawl(["runs", "show", ids[0] ?? "", "--whole", "--json"], { cwd: restored, env });
  expect(shown.stdout).toContain(LARGE.slice(0, 1_000));
  store.fault = undefined;
});
