import { expect, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { readEvents } from "../../fakes/read-events.ts";
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

const SCRIPT = `
delay_ms: 150
steps: {}
`;

/** Two servers over one database, whose processes count as dead after two seconds. */
async function startTwo(...roles: readonly string[]): Promise<readonly [RunningServer, RunningServer]> {
  const cwd = application({ "workflows/chain.yaml": CHAIN, "workflows/ask.yaml": ASK, "script.yaml": SCRIPT });
  const env = {
    DATABASE_URL: await newTestDatabase(),
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

/** How often each step was recorded as done. */
async function doneSteps(server: RunningServer, id: string): Promise<Record<string, number>> {
  const { items } = await ask<{ items: { event: { type: string; path?: string } }[] }>(
    server,
    `/runs/${id}/events?limit=1000`,
  );
  const counts: Record<string, number> = {};
  for (const {
    event: { type, path = "" },
  } of items)
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
