import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { AT_ONCE, application, QUESTION, REVIEW } from "../end-to-end/support/application.ts";
import { pawl, startPawl } from "../end-to-end/support/pawl.ts";
import { makeDatabaseNow } from "../support/database-now.ts";
import { findFreePort } from "../support/free-port.ts";
import { RestateServer } from "../support/restate-server.ts";

const FILES = {
  "workflows/question.yaml": QUESTION,
  "workflows/review.yaml": REVIEW,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

let server: RestateServer;

beforeAll(async () => {
  server = await RestateServer.open();
});

afterAll(async () => {
  await server?.remove();
});

/** An application over a database whose runs the server drives. */
function driven(more: Readonly<Record<string, string>> = {}) {
  const name = `t${randomUUID().replaceAll("-", "")}`;
  const env = {
    DATABASE_URL: makeDatabaseNow(inject("postgresUrl"), name),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    RESTATE_URL: server.ingressUrl,
    RESTATE_ADMIN_URL: server.adminUrl,
    PAWL_RESTATE__SERVICE: name,
    ...more,
  };
  return { cwd: application(FILES), env };
}

function dataOf({ stdout }: { readonly stdout: string }) {
  return (JSON.parse(stdout) as { readonly data: Record<string, unknown> }).data;
}

/** Does it to an invocation, as an operator of Restate would. `key`: the id of a run, or of a later part of it. */
async function change(key: string, verb: "kill" | "pause"): Promise<void> {
  const find = async () => (await server.query(`SELECT id FROM sys_invocation WHERE target_service_key = '${key}'`))[0];
  await expect.poll(find).toBeDefined();
  const answer = await fetch(`${server.adminUrl}/invocations/${String((await find())?.["id"])}/${verb}`, {
    method: "PATCH",
  });
  expect(answer.status).toBeLessThan(300);
}

const urlIn = (text: string) => /listens on (\S+)\n/.exec(text)?.[1] ?? "";

// Four processes are started one after the other.
test("a worker is the endpoint, register tells Restate of it, and serve sends runs there", {
  timeout: 60_000,
}, async () => {
  const options = driven();
  const before = await pawl(["doctor", "--json"], options);
  expect(before.stdout).toContain("knows no endpoint");
  const refused = await pawl(["worker", "--restate"], { ...options, env: { ...options.env, RESTATE_URL: "" } });
  expect(refused.stderr).toContain("RESTATE_URL");

  const port = await findFreePort();
  const worker = startPawl(["worker", "--restate", "--port", String(port)], options);
  await worker.said(`Restate calls this process at http://127.0.0.1:${port}`);
  const registered = await pawl(["restate", "register", `http://127.0.0.1:${port}`], options);
  expect(registered).toMatchObject({ code: 0, stdout: `${server.ingressUrl} calls http://127.0.0.1:${port}\n` });

  const serve = startPawl(["serve", "--port", "0"], options);
  const url = urlIn(await serve.printed("listens on"));
  const run = await pawl(["run", "question", "-i", "question=Why?", "--url", url, "--json"], options);
  expect(run.code).toBe(0);
  const id = String(dataOf(run)["run_id"]);
  expect(dataOf(await pawl(["runs", "show", id, "--json"], options))).toMatchObject({
    status: "completed",
    total_cost_usd: 0.01,
    outputs: { answer: "42" },
  });
  const events = await fetch(`${url}/runs/${id}/stream`);
  expect(await events.text()).toContain("42");
  const [drove] = await server.query(`SELECT status FROM sys_invocation WHERE target_service_key = '${id}'`);
  expect(drove).toMatchObject({ status: "completed" });
  expect((await pawl(["doctor"], options)).stdout).toContain(`${server.ingressUrl} drives the runs`);

  // The next worker goes on with what this one leaves, and takes an answer that waits for a worker.
  const asks = await pawl(["run", "review", "--url", url, "--json"], options);
  const waits = String(dataOf(asks)["run_id"]);
  worker.kill("SIGKILL");
  await worker.ended;
  const approved = pawl(["approve", waits, "--url", url], options);
  const next = startPawl(["worker", "--restate", "--port", String(port)], options);
  await next.said("Restate calls this process");
  expect(await approved).toMatchObject({ code: 0 });
  const statusOf = async () => dataOf(await pawl(["runs", "show", waits, "--json"], options))["status"];
  await expect.poll(statusOf).toBe("completed");
});

test("a paused invocation is told of by runs show and doctor, and resumed", { timeout: 60_000 }, async () => {
  const options = driven({ PAWL_RESTATE__REGISTER: "true" });
  const worker = startPawl(["worker", "--restate", "--port", String(await findFreePort())], options);
  await worker.said("Restate calls this process");
  const run = await pawl(["run", "review", "--json"], options);
  const id = String(dataOf(run)["run_id"]);
  await change(id, "pause");
  const show = () => pawl(["runs", "show", id], options);
  await expect.poll(async () => (await show()).stdout).toContain("restate   has paused it");
  const told = await pawl(["doctor"], options);
  expect(told.stdout).toContain(`the run ${id} is paused`);
  expect((await pawl(["restate", "resume"], options)).stdout).toBe("1 run goes on\n");
  await expect.poll(async () => (await show()).stdout).not.toContain("has paused it");
});

// Ten programs one after the other.
test.each([
  ["the first", ""],
  ["a later", "~2"],
])(
  "%s invocation of a run that was killed is told of by runs show and doctor, and another one goes on",
  {
    timeout: 90_000,
  },
  async (_, part) => {
    const options = driven({ PAWL_RESTATE__REGISTER: "true", PAWL_RESTATE__MAX_ENTRIES: "2" });
    const worker = startPawl(["worker", "--restate", "--port", String(await findFreePort())], options);
    await worker.said("Restate calls this process");
    const id = String(dataOf(await pawl(["run", "review", "--json"], options))["run_id"]);
    const show = () => pawl(["runs", "show", id], options);
    await expect.poll(async () => (await show()).stdout).toContain("awaiting approval");
    await change(`${id}${part}`, "kill");
    await expect.poll(async () => (await show()).stdout).toContain("restate   it was killed there");
    expect((await pawl(["doctor"], options)).stdout).toContain(`the run ${id} was killed there`);
    expect((await pawl(["restate", "resume"], options)).stdout).toBe("1 run goes on\n");
    expect((await show()).stdout).not.toContain("killed");
    expect((await pawl(["approve", id], options)).code).toBe(0);
    await expect.poll(async () => (await show()).stdout).toContain("completed");
    expect((await pawl(["restate", "resume"], options)).stdout).toBe("0 runs go on\n");
  },
);

// A server of Restate is started twice, and three of ours.
test("dev --restate starts a server beside it, takes over one that was left, and ends it", {
  timeout: 60_000,
}, async () => {
  const cwd = application(FILES);
  const options = { cwd, env: { RESTATE_ENDPOINT_PORT: String(await findFreePort()) } };
  const begin = async () => {
    const dev = startPawl(["dev", "--restate", "--port", "0"], options);
    const url = urlIn(await dev.printed("openapi.json"));
    const { pid } = JSON.parse(readFileSync(join(cwd, ".pawl/restate/running.json"), "utf8")) as { pid: number };
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
    return { dev, url, pid };
  };
  const first = await begin();
  const run = await pawl(["run", "question", "-i", "question=Why?", "--url", first.url, "--json"], options);
  expect(dataOf(run)).toMatchObject({ status: "completed" });
  const asks = await pawl(["run", "review", "--url", first.url, "--json"], options);
  expect(asks.code).toBe(6);
  const id = String(dataOf(asks)["run_id"]);
  first.dev.kill("SIGTERM");
  expect(await first.dev.ended).toMatchObject({ code: 0 });
  expect(isAlive(first.pid)).toBe(false);

  const killed = await begin();
  killed.dev.kill("SIGKILL");
  await killed.dev.ended;
  expect(isAlive(killed.pid)).toBe(true);

  const { dev, url, pid } = await begin();
  expect(pid).toBe(killed.pid);
  const statusOf = async (path: string) => (await fetch(url + path)).status;
  expect(await statusOf("/ready")).toBe(200);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => statusOf("/ready"), { interval: 20 }).toBe(503);
  await dev.said("It is started again.");
  await expect.poll(() => statusOf("/ready")).toBe(200);
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ data: { restate: "ok" } });
  expect((await pawl(["approve", id, "--url", url], options)).code).toBe(0);
  const status = async () => dataOf(await pawl(["runs", "show", id, "--url", url, "--json"], options))["status"];
  await expect.poll(status).toBe("completed");
  dev.kill("SIGTERM");
  expect(await dev.ended).toMatchObject({ code: 0 });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
