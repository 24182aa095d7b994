import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/fakes/fake-clock.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { passTime, schedulerOf } from "../../../../../test/fakes/schedule-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { loadEndpoints } from "../endpoints.ts";

const ENDPOINTS = await loadEndpoints();

const ADMIN = { "x-api-key": "configured" };
const START = Date.UTC(2026, 2, 28, 12);

function newWorld(): HttpWorld {
  const graphs = [uhlpGraph({ name: "hello", steps: [task("work")] })];
  return new HttpWorld(graphs, {
    agent: { provider: "simulated" },
    server: { api_key: "configured" },
    clock: new FakeClock(START),
  });
}

interface Answer {
  readonly status: number;
  readonly data: JsonObject;
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null;
}

async function send(
  world: HttpWorld,
  method: string,
  path: string,
  { body, headers = ADMIN }: { readonly body?: JsonObject; readonly headers?: Record<string, string> } = {},
): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await world.request(path, {
    method,
    ...sent,
    headers: { "content-type": "application/json", ...headers },
  });
  return { status: response.status, ...((await response.json()) as Pick<Answer, "data" | "error">) };
}

async function keyFor(world: HttpWorld, wanted: JsonObject): Promise<Record<string, string>> {
  const { data } = await send(world, "POST", "/keys", { body: { name: "test", ...wanted } });
  return { "x-api-key": String(data["key"]) };
}

test("a schedule is answered with its next five times as the clocks of its zone show them", async () => {
  const world = newWorld();
  const body = { workflow: "hello", cron: "30 2 * * *", timezone: "Europe/Berlin", input: { a: 1 } };
  const created = await send(world, "POST", "/schedules", { body });
  expect(created).toMatchObject({ status: 201, data: { workflow_name: "hello", overlap: "skip", catch_up: "one" } });
  expect(created.data["next_fire_times"]).toEqual([
    "2026-03-29T03:00:00+02:00",
    "2026-03-30T02:30:00+02:00",
    "2026-03-31T02:30:00+02:00",
    "2026-04-01T02:30:00+02:00",
    "2026-04-02T02:30:00+02:00",
  ]);
  const id = String(created.data["schedule_id"]);
  expect((await send(world, "GET", `/schedules/${id}`)).data).toEqual(created.data);
  expect((await send(world, "GET", "/schedules")).data).toEqual({ items: [created.data], next_cursor: null });
});

test("the next times of a cron expression are told before a schedule is made of it, or what is wrong with it", async () => {
  const world = newWorld();
  const told = await send(world, "GET", "/schedules/preview?cron=30%202%20*%20*%20*&timezone=Europe/Berlin");
  expect(told.data["next_fire_times"]).toEqual([
    "2026-03-29T03:00:00+02:00",
    "2026-03-30T02:30:00+02:00",
    "2026-03-31T02:30:00+02:00",
    "2026-04-01T02:30:00+02:00",
    "2026-04-02T02:30:00+02:00",
  ]);
  const refused = await send(world, "GET", "/schedules/preview?cron=99%202%20*%20*%20*");
  expect(refused).toMatchObject({ status: 400, error: { code: "CRON_INVALID" } });
  const nowhere = await send(world, "GET", "/schedules/preview?cron=30%202%20*%20*%20*&timezone=Nowhere");
  expect(nowhere).toMatchObject({ status: 400, error: { code: "TIMEZONE_INVALID" } });
});

test("the other spelling means the same, and both at once mean nothing", async () => {
  const world = newWorld();
  const body = { workflow_name: "hello", cron_expression: "0 6 * * *", input_data: { a: 1 } };
  const created = await send(world, "POST", "/api/schedules", { body });
  expect(created.data).toMatchObject({ workflow_name: "hello", cron_expression: "0 6 * * *", input_data: { a: 1 } });
  const both = { workflow: "hello", cron: "0 6 * * *", cron_expression: "0 7 * * *" };
  expect(await send(world, "POST", "/schedules", { body: both })).toMatchObject({
    status: 400,
    error: { code: "REQUEST_INVALID" },
  });
});

test.each([
  [{ cron: "61 * * * *" }, 400, "CRON_INVALID"],
  [{ cron: "0 0 30 2 *" }, 400, "CRON_INVALID"],
  [{ timezone: "Mars/Olympus" }, 400, "TIMEZONE_INVALID"],
  [{ workflow: "helo" }, 404, "WORKFLOW_NOT_FOUND"],
  [{ workflow: "name: x\nsteps: []\n" }, 400, "REQUEST_INVALID"],
  [{ notify: { email: { to: "ops@example.org" } } }, 400, "EMAIL_NOT_CONFIGURED"],
  [{ notify: {} }, 400, "REQUEST_INVALID"],
  [{ notify: { on: "failure" } }, 400, "REQUEST_INVALID"],
  [{ notify: { pager: { url: "https://x.example" } } }, 400, "REQUEST_INVALID"],
  [{ notify: { slack: { url: "ftp://x.example" } } }, 400, "REQUEST_INVALID"],
  [{ notify: { webhook: { url: `https://x.example/\${ANTHROPIC_API_KEY}` } } }, 400, "REQUEST_INVALID"],
  [{ notify: { email: { to: "a@b.example\r\nBcc: all@example.org" } } }, 400, "REQUEST_INVALID"],
  [{ notify: { email: { to: ["a@b.example, c@d.example"] } } }, 400, "REQUEST_INVALID"],
  [{ jitter_seconds: -1 }, 400, "REQUEST_INVALID"],
])("%j is refused and stores nothing", async (wrong, status, code) => {
  const world = newWorld();
  const answer = await send(world, "POST", "/schedules", { body: { workflow: "hello", cron: "0 6 * * *", ...wrong } });
  expect(answer).toMatchObject({ status, error: { code, message: expect.any(String), remedy: expect.any(String) } });
  expect((await send(world, "GET", "/schedules")).data["items"]).toEqual([]);
});

test("a schedule is changed, paused, resumed, run now and removed, and a server that fires it knows at once", async () => {
  const world = newWorld();
  await schedulerOf(world).start([]);
  const { data } = await send(world, "POST", "/schedules", { body: { workflow: "hello", cron: "0 6 * * *" } });
  const path = `/schedules/${String(data["schedule_id"])}`;
  const changed = await send(world, "PATCH", path, { body: { cron: "30 12 * * *", overlap: "queue" } });
  expect(changed.data).toMatchObject({ overlap: "queue", next_fire_at: "2026-03-28T12:30:00.000Z" });
  await passTime(world, 3_600_000);
  const paused = await send(world, "PATCH", path, { body: { enabled: false } });
  expect(paused.data).toMatchObject({ enabled: false, disabled_reason: "paused", next_fire_at: null });
  const ran = await send(world, "POST", `${path}/run`);
  expect(ran).toMatchObject({ status: 202, data: { status: "queued" } });
  expect((await send(world, "GET", `/runs/${String(ran.data["run_id"])}`)).status).toBe(200);
  const slots = await send(world, "GET", `${path}/slots`);
  expect(slots.data["items"]).toMatchObject([
    { kind: "manual", state: "started", run_id: ran.data["run_id"] },
    { kind: "cron", state: "started", slot: "2026-03-28T12:30:00.000Z" },
  ]);
  expect((await send(world, "PATCH", path, { body: { enabled: true } })).data).toMatchObject({ enabled: true });
  expect((await send(world, "DELETE", path)).status).toBe(200);
  expect(await send(world, "GET", path)).toMatchObject({ status: 404, error: { code: "SCHEDULE_NOT_FOUND" } });
});

test("schedules are listed by number for those who ask so, and otherwise all at once", async () => {
  const world = newWorld();
  for (const cron of ["0 1 * * *", "0 2 * * *", "0 3 * * *"]) {
    await send(world, "POST", "/schedules", { body: { workflow: "hello", cron } });
  }
  const whole = (await send(world, "GET", "/schedules")).data["items"];
  expect(whole).toHaveLength(3);
  const page = await (await world.request("/api/schedules?limit=2&offset=1", { headers: ADMIN })).json();
  expect(page).toEqual({
    data: Array.isArray(whole) && whole.slice(1, 3),
    error: null,
    meta: { total: 3, limit: 2, offset: 1 },
  });
});

test("slots are listed page by page", async () => {
  const world = newWorld();
  await schedulerOf(world).start([]);
  const { data } = await send(world, "POST", "/schedules", { body: { workflow: "hello", cron: "0 * * * *" } });
  await passTime(world, 3 * 3_600_000);
  const path = `/schedules/${String(data["schedule_id"])}/slots`;
  const first = await send(world, "GET", `${path}?limit=2`);
  const rest = await send(world, "GET", `${path}?limit=2&cursor=${String(first.data["next_cursor"])}`);
  expect(first.data["items"]).toMatchObject([
    { slot: "2026-03-28T15:00:00.000Z" },
    { slot: "2026-03-28T14:00:00.000Z" },
  ]);
  expect(rest.data).toMatchObject({ items: [{ slot: "2026-03-28T13:00:00.000Z" }], next_cursor: null });
  const second = await send(world, "GET", `${path}?limit=1&offset=1`);
  expect(second.data["items"]).toMatchObject([{ slot: "2026-03-28T14:00:00.000Z" }]);
  const answer = await (await world.request(`/api${path}?limit=2`, { headers: ADMIN })).json();
  expect(answer).toMatchObject({ meta: { total: 3, limit: 2, offset: 0 } });
});

test("what belongs to a definition is not changed or removed here, but paused", async () => {
  const world = newWorld();
  const graph = { ...uhlpGraph({ name: "hello", steps: [task("work")] }), schedule: "0 6 * * *" };
  await schedulerOf(world).start([
    { name: "hello", file: "/x", report: { definition: { text: "", graph }, problems: [] } },
  ]);
  const { data } = await send(world, "GET", "/schedules");
  const [{ schedule_id: id }] = data["items"] as unknown as readonly [{ readonly schedule_id: string }];
  const defined = { status: 409, error: { code: "SCHEDULE_DEFINED" } };
  expect(await send(world, "PATCH", `/schedules/${id}`, { body: { cron: "0 7 * * *" } })).toMatchObject(defined);
  expect(await send(world, "DELETE", `/schedules/${id}`)).toMatchObject(defined);
  expect((await send(world, "PATCH", `/schedules/${id}`, { body: { enabled: false } })).status).toBe(200);
});

test("a tenant sees, changes and starts nothing of another one's, and spends no more than its key may", async () => {
  const world = newWorld();
  const a = await keyFor(world, { tenant_id: "a", scopes: ["write"], max_cost_usd: 0.5 });
  const b = await keyFor(world, { tenant_id: "b", scopes: ["admin"] });
  await schedulerOf(world).start([]);
  const body = { workflow: "hello", cron: "0 13 * * *" };
  const { data } = await send(world, "POST", "/schedules", { body, headers: a });
  const id = String(data["schedule_id"]);
  expect(data).toMatchObject({ tenant_id: "a" });
  expect((await send(world, "GET", "/schedules", { headers: b })).data["items"]).toEqual([]);
  for (const { method, path } of ENDPOINTS.filter((each) => each.path.startsWith("/schedules/{id}"))) {
    const answer = await send(world, method, path.replace("{id}", id), {
      headers: b,
      ...(method === "PATCH" ? { body: { enabled: false } } : {}),
    });
    expect(answer, `${method} ${path}`).toMatchObject({ status: 404, error: { code: "SCHEDULE_NOT_FOUND" } });
  }
  await passTime(world, 3_600_000);
  const [run] = await world.world.journal.listRuns({ limit: 9 });
  expect(run).toMatchObject({ tenantId: "a" });
  const started = (await world.world.eventsOf(run?.id ?? ""))[0];
  expect(started).toMatchObject({ maxCostMicro: 500_000 });
});

test("seeing needs the scope read, running run, and changing write", async () => {
  const world = newWorld();
  const reader = await keyFor(world, { scopes: ["read"] });
  const runner = await keyFor(world, { scopes: ["run"] });
  const body = { workflow: "hello", cron: "0 13 * * *" };
  expect((await send(world, "POST", "/schedules", { body, headers: runner })).status).toBe(403);
  const { data } = await send(world, "POST", "/schedules", { body });
  const path = `/schedules/${String(data["schedule_id"])}`;
  expect((await send(world, "GET", path, { headers: reader })).status).toBe(200);
  expect((await send(world, "POST", `${path}/run`, { headers: reader })).status).toBe(403);
  expect((await send(world, "POST", `${path}/run`, { headers: runner })).status).toBe(202);
});
