import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { AT_ONCE, application, QUESTION } from "../../end-to-end/support/application.ts";
import { pawl, startPawl } from "../../end-to-end/support/pawl.ts";
import { isInstalled } from "../../support/needs.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { S3_KEYS, startS3Server } from "../../support/s3-server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

interface Service {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly deploy?: { readonly replicas: number };
}

const compose = parse(readFileSync(new URL("../../../compose.yaml", import.meta.url), "utf8"), { merge: true });
const services: Readonly<Record<string, Service>> = compose.services;

const KEY = "0123456789abcdef0123456789abcdef";
const FILES = {
  "workflows/question.yaml": QUESTION,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

/** What compose.yaml gives to its services, with the addresses and secrets of this machine. */
async function environmentHere(): Promise<Record<string, string>> {
  const store = await startS3Server();
  onTestFinished(() => store.stop());
  const here: Record<string, string> = {
    REDIS_URL: isInstalled("redis-server") ? (await RedisServer.start()).url : "",
    DATABASE_URL: await newTestDatabase(),
    STORAGE_BUCKET: await store.makeBucket("pawl"),
    STORAGE_ENDPOINT: store.endpoint,
    AWS_ACCESS_KEY_ID: S3_KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_KEYS.secretAccessKey,
    API_KEY: KEY,
    PAWL_SECRETS__KEY: KEY,
  };
  const given = Object.entries(services["api"]?.environment ?? {});
  return Object.fromEntries(
    given.map(([name, value]) => [name, here[name] ?? value.replace(/^\$\{\w+:-(.*)\}$/, "$1")]),
  );
}

/** Starts a service as its container does, at a free port. Resolves with its address. */
async function start(name: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { command = [] } = services[name] ?? {};
  const process = startPawl([...command, "--port", "0"], { cwd: application(FILES), env });
  const [, url = ""] = /^Pawl listens on (\S+)$/m.exec(await process.printed("\n")) ?? [];
  return url;
}

async function ask<T>(url: string, path: string, body?: object): Promise<T> {
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return ((await (await fetch(`${url}${path}`, init)).json()) as { data: T }).data;
}

test("the processes of compose.yaml work together: the API takes runs, workers drive them, and files are everybody's", async () => {
  const env = await environmentHere();
  const cwd = application({});
  expect(await pawl(services["migrate"]?.command ?? [], { cwd, env })).toMatchObject({ code: 0 });
  const workers = Array.from({ length: services["worker"]?.deploy?.replicas ?? 0 }, () => "worker");
  const [api = "", scheduler = "", ...others] = await Promise.all(
    ["api", "scheduler", ...workers].map((name) => start(name, env)),
  );
  for (const url of [api, scheduler, ...others]) expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const health = { status: "ok", db: "ok", storage: "ok" };
  expect(await (await fetch(`${api}/health`)).json()).toMatchObject({ data: health });

  const sent = { workflow: "question", input: { question: "why" } };
  const runs = await Promise.all(Array.from({ length: 6 }, () => ask<{ run_id: string }>(api, "/workflows/run", sent)));
  for (const { run_id: id } of runs) {
    await expect.poll(() => ask(scheduler, `/runs/${id}`), { timeout: 30_000 }).toMatchObject({ status: "completed" });
  }
  const { stdout } = await pawl(["db", "status", "--json"], { cwd, env });
  expect(JSON.parse(stdout).data).toMatchObject({ processes: 2, steps_missing: [] });

  const put = await pawl(["storage", "put", "note.txt", "pawl.yaml"], { cwd: application(FILES), env });
  expect(put.code).toBe(0);
  const headers = { "x-api-key": KEY };
  expect(await (await fetch(`${api}/storage/note.txt`, { headers })).text()).toBe(FILES["pawl.yaml"]);
});
