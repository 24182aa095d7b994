import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { readEvents } from "../../fakes/read-events.ts";
import { programOf } from "../../support/needs.ts";
import { startPooler } from "../../support/pooler.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const STEPS = 12;

const CHAIN = `
name: chain
steps:
${Array.from({ length: STEPS }, (_, n) => `  - id: s${n}\n    prompt: "go"${n === 0 ? "" : `\n    depends_on: [s${n - 1}]`}`).join("\n")}
`;

const ASK = `
name: ask
steps:
  - id: draft
    prompt: "go"
  - id: gate
    type: approval
    depends_on: [draft]
    approval_config:
      message: "Go on?"
`;

const ONCE_ONLY = `
name: once-only
steps:
  - id: pay
    prompt: "go"
    at_most_once: true
`;

const SLOW_ONCE = `
name: slow-once
steps:
  - id: slow
    prompt: "go"
    at_most_once: true
`;

const SCRIPT = `
delay_ms: 150
steps:
  slow: {reply: done, delay_ms: 8000}
`;

const PAY = `
name: pay
steps:
  - id: gate
    type: approval
    approval_config: { message: "Pay?", quorum: 2 }
`;

/** Two servers over one database, whose processes count as dead after two seconds. */
async function startTwo(...roles: readonly string[]): Promise<readonly [RunningServer, RunningServer]> {
  return startTwoOver(await newTestDatabase(), roles);
}

async function startTwoOver(
  databaseUrl: string,
  roles: readonly string[],
): Promise<readonly [RunningServer, RunningServer]> {
  const cwd = application({
    "workflows/chain.yaml": CHAIN,
    "workflows/ask.yaml": ASK,
    "workflows/pay.yaml": PAY,
    "workflows/once-only.yaml": ONCE_ONLY,
    "workflows/slow-once.yaml": SLOW_ONCE,
    "script.yaml": SCRIPT,
  });
  const env = {
    DATABASE_URL: databaseUrl,
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    PAWL_DATABASE__LEASE_MS: "2000",
    PAWL_AGENT__PROVIDER: "simulated:script.yaml",
  };
  const [one = "all", other = "all"] = roles;
  return Promise.all([startServer(["--role", one], { cwd, env }), startServer(["--role", other], { cwd, env })]);
}

async function ask<T>(server: RunningServer, path: string, body?: object): Promise<T> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${server.url}${path}`, body === undefined ? {} : init);
  const { data, error } = (await answer.json()) as { data: T; error: { code: string } | null };
  if (error !== null) throw new Error(error.code);
  return data;
}

async function start(server: RunningServer, workflow: string): Promise<string> {
  return (await ask<{ run_id: string }>(server, "/workflows/run", { workflow })).run_id;
}

async function statusOf(server: RunningServer, id: string): Promise<string> {
  return (await ask<{ status: string }>(server, `/runs/${id}`)).status;
}

interface SeenEvent {
  readonly type: string;
  readonly path?: string;
  readonly diedAt?: number;
}

async function eventsOf(server: RunningServer, id: string): Promise<readonly SeenEvent[]> {
  const { items } = await ask<{ items: { event: SeenEvent }[] }>(server, `/runs/${id}/events?limit=200`);
  return items.map(({ event }) => event);
}

/** How often each step was recorded as done. */
async function doneSteps(server: RunningServer, id: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { type, path = "" } of await eventsOf(server, id))
    if (type === "stepSucceeded") counts[path] = (counts[path] ?? 0) + 1;
  return counts;
}

const ONCE = Object.fromEntries(Array.from({ length: STEPS }, (_, n) => [`s${n}`, 1]));

test("every process shows, answers and cancels the runs of all", async () => {
  const [one, other] = await startTwo();
  const asking = await start(one, "ask");
  await expect.poll(() => statusOf(other, asking)).toBe("awaiting_approval");
  await ask(other, `/approvals/${encodeURIComponent(`${asking}:gate`)}/approve`, {});
  await expect.poll(() => statusOf(one, asking)).toBe("completed");
  await expect(ask(one, `/approvals/${encodeURIComponent(`${asking}:gate`)}/approve`, {})).rejects.toThrow(
    "APPROVAL_CONFLICT",
  );

  const feed = await fetch(`${other.url}/events`);
  const running = await start(one, "chain");
  await ask(other, `/runs/${running}/cancel`, {});
  await expect.poll(() => statusOf(one, running)).toBe("cancelled");
  const fed = await readEvents(feed, ({ event, data }) => event === "run.finished" && data.includes(running));
  expect(fed.map(({ data }) => data).join("\n")).toContain(running);
  await expect(ask(other, `/runs/${running}/cancel`, {})).rejects.toThrow("RUN_FINISHED");
});

test("a process that only takes requests has its runs driven by a worker, also what comes while there is none", async () => {
  const [api, worker] = await startTwo("api", "worker");
  const asking = await start(api, "ask");
  await expect.poll(() => statusOf(api, asking)).toBe("awaiting_approval");
  await ask(api, `/approvals/${encodeURIComponent(`${asking}:gate`)}/approve`, {});
  await expect.poll(() => statusOf(api, asking)).toBe("completed");
  const chain = await start(api, "chain");
  await expect.poll(async () => (await doneSteps(api, chain))["s1"]).toBe(1);
  await ask(api, `/runs/${chain}/cancel`, {});
  await expect.poll(() => statusOf(api, chain)).toBe("cancelled");
  await worker.kill("SIGTERM");
  await worker.ended;
  const waiting = await start(api, "ask");
  expect(await statusOf(api, waiting)).toBe("queued");
});

test("a run that begins where none are driven has lost nothing: a step that may only run once runs", async () => {
  const [api, worker] = await startTwo("api", "worker");
  const id = await start(api, "once-only");
  await expect.poll(() => statusOf(api, id)).toBe("completed");
  expect(await eventsOf(worker, id)).not.toContainEqual(expect.objectContaining({ type: "stepInterrupted" }));
});

test("the death of a process counts against what was in flight", async () => {
  const [one, other] = await startTwo();
  const id = await start(one, "slow-once");
  await expect.poll(() => statusOf(other, id)).toBe("running");
  const killedAt = Date.now();
  await one.kill("SIGKILL");
  await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("failed");
  const interrupted = (await eventsOf(other, id)).find(({ type }) => type === "stepInterrupted");
  expect(interrupted).toMatchObject({ cause: "crash", path: "slow" });
  // Its last sign of life, not the time at which that was noticed.
  expect(interrupted?.diedAt).toBeLessThan(killedAt + 500);
});

test("the stream of a run is whole in a process that does not drive it", async () => {
  const [one, other] = await startTwo();
  const id = await start(one, "chain");
  const streamed = await readEvents(await fetch(`${other.url}/runs/${id}/stream`));
  const told = streamed.map(({ event, data }) => `${event} ${data}`).join("\n");
  for (const step of Object.keys(ONCE)) expect(told).toContain(`"${step}"`);
  expect(streamed.at(-1)?.event).toBe("end");
});

test("when a process is killed another one goes on with its runs, and no step is recorded twice", async () => {
  const [one, other] = await startTwo();
  const runs = await Promise.all(Array.from({ length: 6 }, () => start(one, "chain")));
  await expect.poll(async () => (await doneSteps(other, runs[0] ?? ""))["s1"]).toBe(1);
  await one.kill("SIGKILL");
  for (const id of runs) await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("completed");
  for (const id of runs) expect(await doneSteps(other, id)).toEqual(ONCE);
});

test("a process that was stopped for longer than its lease writes nothing more of its runs, and serves on", async () => {
  const [one, other] = await startTwo();
  const runs = await Promise.all(Array.from({ length: 4 }, () => start(one, "chain")));
  await expect.poll(async () => (await doneSteps(other, runs[0] ?? ""))["s1"]).toBe(1);
  process.kill(one.pid, "SIGSTOP");
  for (const id of runs) await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("completed");
  process.kill(one.pid, "SIGCONT");
  for (const id of runs) expect(await doneSteps(one, id)).toEqual(ONCE);
  const next = await start(one, "chain");
  await expect.poll(() => statusOf(other, next), { timeout: 30_000 }).toBe("completed");
  expect(await doneSteps(other, next)).toEqual(ONCE);
});

test("a process that is told to end hands its runs over at once", async () => {
  const [one, other] = await startTwo();
  const id = await start(one, "chain");
  await expect.poll(async () => (await doneSteps(other, id))["s1"]).toBe(1);
  await one.kill("SIGTERM");
  const begun = Date.now();
  await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("completed");
  expect(await doneSteps(other, id)).toEqual(ONCE);
  // Eleven steps of 150 ms, and no lease to wait for.
  expect(Date.now() - begun).toBeLessThan(15_000);
});

test("a run is handed over at once though another one of the same process may not be cut off", async () => {
  const [one, other] = await startTwo();
  const kept = await start(one, "slow-once");
  const id = await start(one, "chain");
  await expect.poll(async () => (await doneSteps(other, id))["s1"]).toBe(1);
  await one.kill("SIGTERM");
  await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("completed");
  expect(await statusOf(other, kept), "what may run only once is still under way").toBe("running");
  await expect.poll(() => statusOf(other, kept), { timeout: 30_000 }).toBe("completed");
  expect(await doneSteps(other, id)).toEqual(ONCE);
});

test("the same key at two processes at once begins one run, and both are told of it", async () => {
  const [one, other] = await startTwo();
  const submit = async (server: RunningServer, key: string) => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ workflow: "ask" }),
    };
    const { data } = (await (await fetch(`${server.url}/workflows/run`, init)).json()) as { data: { run_id: string } };
    return data?.run_id;
  };
  for (let n = 0; n < 20; n += 1) {
    const [first, second] = await Promise.all([submit(one, `key-${n}`), submit(other, `key-${n}`)]);
    expect(first).toMatch(/^[0-9a-f-]{36}$/);
    expect(second).toBe(first);
  }
});

test("behind a pooler that hands sessions around processes take each other's requests and runs", async () => {
  const pooler = await startPooler(programOf("pgbouncer"), await newTestDatabase());
  onTestFinished(() => pooler.stop());
  const [one, other] = await startTwoOver(pooler.url, ["all", "all"]);
  const asking = await start(one, "ask");
  await expect.poll(() => statusOf(other, asking)).toBe("awaiting_approval");
  await ask(other, `/approvals/${encodeURIComponent(`${asking}:gate`)}/approve`, {});
  await expect.poll(() => statusOf(one, asking)).toBe("completed");
  const cancelled = await start(one, "chain");
  await ask(other, `/runs/${cancelled}/cancel`, {});
  await expect.poll(() => statusOf(one, cancelled)).toBe("cancelled");

  const runs = await Promise.all(Array.from({ length: 4 }, () => start(one, "chain")));
  await expect.poll(async () => (await doneSteps(other, runs[0] ?? ""))["s1"]).toBe(1);
  await one.kill("SIGKILL");
  for (const id of runs) await expect.poll(() => statusOf(other, id), { timeout: 30_000 }).toBe("completed");
  for (const id of runs) expect(await doneSteps(other, id)).toEqual(ONCE);
});

test("two who approve at once, each at another process, are two, and one who does so twice is one", async () => {
  const [one, other] = await startTwo();
  const { key: admin } = await ask<{ key: string }>(one, "/keys", { name: "admin", scopes: ["admin"] });
  const call = async <T>(server: RunningServer, path: string, key: string, body?: object): Promise<T> => {
    const headers = { "content-type": "application/json", "x-api-key": key };
    const sent = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
    const { data, error } = (await (await fetch(`${server.url}${path}`, sent)).json()) as { data: T; error: unknown };
    expect(error).toBeNull();
    return data;
  };
  const keys = await Promise.all(
    ["alice", "bob"].map(async (name) => (await call<{ key: string }>(one, "/keys", admin, { name })).key),
  );
  const [alice = "", bob = ""] = keys;
  for (let round = 0; round < 5; round += 1) {
    const { run_id: run } = await call<{ run_id: string }>(one, "/workflows/run/sync", admin, { workflow: "pay" });
    const approve = (server: RunningServer, key: string) => call(server, `/approvals/${run}:gate/approve`, key, {});
    await Promise.all([approve(one, alice), approve(other, alice)]);
    expect(await call(other, `/approvals/${run}:gate`, admin)).toMatchObject({ approved_by: ["alice"] });
    await approve(other, bob);
    await expect.poll(() => call(one, `/runs/${run}`, admin)).toMatchObject({ status: "completed" });
    const second = await call<{ run_id: string }>(one, "/workflows/run/sync", admin, { workflow: "pay" });
    const both = (server: RunningServer, key: string) =>
      call(server, `/approvals/${second.run_id}:gate/approve`, key, {});
    await Promise.all([both(one, alice), both(other, bob)]);
    await expect.poll(() => call(other, `/runs/${second.run_id}`, admin)).toMatchObject({ status: "completed" });
  }
});
