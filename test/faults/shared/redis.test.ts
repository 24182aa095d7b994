import { Redis } from "ioredis";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { startSlowSandstorm } from "../../capacity/capacity-world.ts";
import { application } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { readEvents } from "../../fakes/read-events.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { refuseRows } from "../../support/refuse-rows.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const KEY = "0123456789abcdef0123456789abcdef";

const MANY = `
name: many
steps:
  - id: ask
    prompt: "{input.name}"
    parallel_over: input.items
`;

const ITEMS = Array.from({ length: 6 }, (_, n) => ({ name: `item ${n}` }));

/** Processes over one database and one Redis server, and agents of which one works at a time. */
async function startSome(roles: readonly string[], more: Readonly<Record<string, string>> = {}, holdMs = 300) {
  const redis = await RedisServer.start();
  const databaseUrl = await newTestDatabase();
  const agents = await startSlowSandstorm({ places: 1, holdMs });
  const cwd = application({ "workflows/many.yaml": MANY });
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    PAWL_SECRETS__KEY: KEY,
    SANDSTORM_URL: agents.server.url,
    PAWL_CAPACITY__LIMITS: JSON.stringify({ [agents.server.url]: 1 }),
    API_KEY: KEY,
    ...more,
  };
  const servers = await Promise.all(roles.map((role) => startServer(["--role", role], { cwd, env })));
  return { redis, urls: servers.map(({ url }) => url) as [string, string], agents, databaseUrl, servers };
}

async function ask(url: string, path: string, body?: object): Promise<Response> {
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  return fetch(
    `${url}${path}`,
    body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) },
  );
}

async function dataOf<T>(answer: Promise<Response>): Promise<T> {
  return ((await (await answer).json()) as { readonly data: T }).data;
}

const start = async (url: string) =>
  (await dataOf<{ run_id: string }>(ask(url, "/workflows/run", { workflow: "many", input: { items: ITEMS } }))).run_id;

test("a process that does not drive a run shows what it says meanwhile, and each event at once", async () => {
  // Long enough for two followers to come while something waits.
  const { urls } = await startSome(["api", "worker"], {}, 1_000);
  const [api, worker] = urls;
  const id = await start(api);
  const [remote, own] = await Promise.all(
    [api, worker].map(async (url) => readEvents(await ask(url, `/runs/${id}/stream?progress=true`))),
  );
  for (const told of [remote, own]) {
    const live = (told ?? []).filter(({ event, data }) => event === "live" && data.includes("waiting_in_all"));
    expect(live.length).toBeGreaterThan(0);
    // How a server stands may be told as it was before.
    const said = (told ?? []).filter(({ event }) => event !== "live").map(({ event, data }) => `${event} ${data}`);
    expect(new Set(said).size).toBe(said.length);
    expect(told?.at(-1)?.event).toBe("end");
  }
});

test("a process takes runs as soon as it can write, though it never hears that another one can again", async () => {
  const { redis, urls, databaseUrl, servers } = await startSome(["api", "worker"]);
  const [api, worker] = urls;
  const id = await start(api);
  const client = new pg.Client({ connectionString: databaseUrl });
  onTestFinished(() => client.end());
  await client.connect();
  await refuseRows(client, true);
  await servers[1]?.said("storage: JOURNAL_FULL");
  await redis.kill();
  const ready = async () => (await ask(worker, "/ready")).status;
  expect(await ready()).toBe(503);
  await refuseRows(client, false);
  await expect.poll(ready).toBe(200);
  await servers[1]?.said("storage: what is written is kept again");
  const next = await start(api);
  const statusOf = async (run: string) => (await dataOf<{ status: string }>(ask(api, `/runs/${run}`))).status;
  for (const run of [id, next]) await expect.poll(() => statusOf(run)).toBe("completed");
});

test("a Redis server that is flushed, hangs or dies delays nothing for long, loses nothing, and is told of", async () => {
  const { redis, urls } = await startSome(["all", "all"]);
  const [one, other] = urls;
  expect(await dataOf(ask(one, "/health"))).toMatchObject({ status: "ok", redis: "ok" });
  const runs = [await start(one), await start(other)];
  const stranger = new Redis(redis.url);
  onTestFinished(() => stranger.disconnect());
  stranger.on("error", () => undefined);
  await stranger.flushall();
  redis.signal("SIGSTOP");
  runs.push(await start(one));
  redis.signal("SIGCONT");
  await redis.kill();
  expect(await dataOf(ask(one, "/health"))).toMatchObject({ status: "degraded", redis: "error" });
  runs.push(await start(other));
  await ask(one, `/runs/${runs.at(-1)}/cancel`, {});
  const statusOf = async (id: string) => (await dataOf<{ status: string }>(ask(one, `/runs/${id}`))).status;
  for (const id of runs.slice(0, -1)) await expect.poll(() => statusOf(id)).toBe("completed");
  await expect.poll(() => statusOf(runs.at(-1) ?? "")).toBe("cancelled");
  await redis.begin();
  await expect.poll(() => dataOf(ask(one, "/health"))).toMatchObject({ redis: "ok" });
});

test("the requests of a caller are counted over all processes", async () => {
  const { urls } = await startSome(["api", "api"], { PAWL_SERVER__RATE_LIMIT_PER_MINUTE: "20" });
  const statuses: number[] = [];
  for (let n = 0; n < 30; n += 1) statuses.push((await ask(urls[n % 2] ?? "", "/runs")).status);
  const letIn = statuses.filter((status) => status === 200).length;
  expect(letIn).toBeGreaterThanOrEqual(20);
  expect(letIn).toBeLessThan(27);
  expect(statuses.at(-1)).toBe(429);
});
