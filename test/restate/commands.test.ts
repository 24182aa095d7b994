import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
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
function driven() {
  const name = `t${randomUUID().replaceAll("-", "")}`;
  const env = {
    DATABASE_URL: makeDatabaseNow(inject("postgresUrl"), name),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    RESTATE_URL: server.ingressUrl,
    RESTATE_ADMIN_URL: server.adminUrl,
    PAWL_RESTATE__SERVICE: name,
  };
  return { cwd: application(FILES), env };
}

function dataOf({ stdout }: { readonly stdout: string }) {
  return (JSON.parse(stdout) as { readonly data: Record<string, unknown> }).data;
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
  await expect.poll(statusOf, { timeout: 20_000 }).toBe("completed");
});

test("a paused invocation is told of by runs show and doctor, and resumed", { timeout: 60_000 }, async () => {
  const options = driven();
  const port = await findFreePort();
  const worker = startPawl(["worker", "--restate", "--port", String(port)], {
    ...options,
    env: { ...options.env, PAWL_RESTATE__REGISTER: "true" },
  });
  await worker.said("Restate calls this process");
  const run = await pawl(["run", "review", "--json"], options);
  const id = String(dataOf(run)["run_id"]);
  const find = async () => (await server.query(`SELECT id FROM sys_invocation WHERE target_service_key = '${id}'`))[0];
  await expect.poll(find).toBeDefined();
  const paused = await fetch(`${server.adminUrl}/invocations/${String((await find())?.["id"])}/pause`, {
    method: "PATCH",
  });
  expect(paused.status).toBeLessThan(300);
  const show = () => pawl(["runs", "show", id], options);
  await expect.poll(async () => (await show()).stdout).toContain("restate   has paused it");
  const told = await pawl(["doctor"], options);
  expect(told.stdout).toContain(`the run ${id} is paused`);
  expect((await pawl(["restate", "resume"], options)).stdout).toBe("1 run goes on\n");
  await expect.poll(async () => (await show()).stdout).not.toContain("has paused it");
});

// A server of Restate is started twice.
test("dev --restate starts a server beside it, and its runs go on at the next start", { timeout: 60_000 }, async () => {
  const port = await findFreePort();
  const options = { cwd: application(FILES), env: { RESTATE_ENDPOINT_PORT: String(port) } };
  const first = startPawl(["dev", "--restate", "--port", "0"], options);
  const url = urlIn(await first.printed("openapi.json"));
  const run = await pawl(["run", "question", "-i", "question=Why?", "--url", url, "--json"], options);
  expect(dataOf(run)).toMatchObject({ status: "completed" });
  const asks = await pawl(["run", "review", "--url", url, "--json"], options);
  expect(asks.code).toBe(6);
  const id = String(dataOf(asks)["run_id"]);
  first.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });

  const second = startPawl(["dev", "--restate", "--port", "0"], options);
  const again = urlIn(await second.printed("openapi.json"));
  expect((await pawl(["approve", id, "--url", again], options)).code).toBe(0);
  const status = async () => dataOf(await pawl(["runs", "show", id, "--url", again, "--json"], options))["status"];
  await expect.poll(status).toBe("completed");
  second.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0 });
});
