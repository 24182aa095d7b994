import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/fakes/fake-clock.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { passTime, schedulerOf, shortSlotsOf, slotsOf } from "../../../../../test/fakes/schedule-world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };
const START = Date.UTC(2026, 5, 1, 7, 30);
const HOUR = 3_600_000;

const tidy = (schedule?: string, message = "Go on?") => `
name: tidy
${schedule === undefined ? "" : `schedule: "${schedule}"`}
steps:
  - id: ask
    type: approval
    approval_config: { message: "${message}" }
`;

function newWorld(): HttpWorld {
  return new HttpWorld([], {
    agent: { provider: "simulated" },
    server: { api_key: "configured" },
    clock: new FakeClock(START),
  });
}

async function send(world: HttpWorld, method: string, path: string, body?: JsonObject, headers: object = ADMIN) {
  const response = await world.request(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = (await response.json()) as { readonly data: JsonObject; readonly error: JsonObject | null };
  return { status: response.status, data, error };
}

const save = (world: HttpWorld, text: string, headers: object = ADMIN) =>
  send(world, "POST", "/workflows", { text }, headers);

async function keyFor(world: HttpWorld, wanted: JsonObject) {
  const { data } = await send(world, "POST", "/keys", { name: "test", scopes: ["write"], ...wanted });
  return { "x-api-key": String(data["key"]) };
}

async function schedules(world: HttpWorld, headers: object = ADMIN) {
  return (await send(world, "GET", "/schedules", undefined, headers)).data["items"] as unknown as JsonObject[];
}

const runsOf = ({ world }: HttpWorld) => world.journal.listRuns({ limit: 99 });

test("the schedule of a saved definition fires, follows the newest version, and ends with the definition", async () => {
  const world = newWorld();
  await schedulerOf(world).start([]);
  expect(await save(world, tidy("0 * * * *"))).toMatchObject({ status: 201, data: { problems: [] } });
  expect(await schedules(world)).toMatchObject([{ workflow_name: "tidy", source: "saved", tenant_id: null }]);
  await passTime(world, HOUR);
  await save(world, tidy("45 * * * *"));
  await passTime(world, HOUR);
  expect(await runsOf(world)).toHaveLength(1);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "08:45 overlap"]);

  await save(world, tidy());
  expect(await schedules(world)).toMatchObject([{ enabled: false, disabled_reason: "definition_removed" }]);
  await save(world, tidy("45 * * * *"));
  expect(await schedules(world)).toMatchObject([{ enabled: true, next_fire_at: "2026-06-01T09:45:00.000Z" }]);
  await send(world, "DELETE", "/workflows/tidy");
  const [schedule] = await schedules(world);
  expect(schedule).toMatchObject({ enabled: false, disabled_reason: "definition_removed", next_fire_at: null });
  expect((await slotsOf(world)).at(-1)).toMatchObject({ kind: "change", reason: "definition_removed" });
  expect((await send(world, "DELETE", `/schedules/${String(schedule?.["schedule_id"])}`)).status).toBe(200);
});

test("one that a person has paused stays paused, and when it starts is changed in the definition only", async () => {
  const world = newWorld();
  await save(world, tidy("0 * * * *"));
  const [schedule] = await schedules(world);
  const path = `/schedules/${String(schedule?.["schedule_id"])}`;
  const defined = { status: 409, error: { code: "SCHEDULE_DEFINED" } };
  expect(await send(world, "PATCH", path, { cron: "1 * * * *" })).toMatchObject(defined);
  expect(await send(world, "DELETE", path)).toMatchObject(defined);
  expect((await send(world, "PATCH", path, { enabled: false })).status).toBe(200);
  await save(world, tidy("30 * * * *"));
  expect(await schedules(world)).toMatchObject([{ cron_expression: "30 * * * *", disabled_reason: "paused" }]);
});

test("a tenant's schedule runs its own definition, for that tenant, within what the key that saved it may spend", async () => {
  const world = newWorld();
  const a = await keyFor(world, { tenant_id: "a", max_cost_usd: 0.5 });
  const rich = await keyFor(world, { tenant_id: "a" });
  const b = await keyFor(world, { tenant_id: "b" });
  await schedulerOf(world).start([]);
  await save(world, tidy(undefined, "the application's"));
  await save(world, tidy("0 * * * *", "of a"), a);
  await save(world, tidy("15 * * * *", "of b"), b);
  expect(await schedules(world, a)).toMatchObject([{ tenant_id: "a", cron_expression: "0 * * * *" }]);
  expect(await schedules(world, b)).toMatchObject([{ tenant_id: "b", cron_expression: "15 * * * *" }]);
  await passTime(world, HOUR / 2);
  const [run] = await runsOf(world);
  expect(run).toMatchObject({ tenantId: "a" });
  expect((await world.world.eventsOf(run?.id ?? ""))[0]).toMatchObject({ maxCostMicro: 500_000 });
  expect((await send(world, "GET", "/approvals", undefined, a)).data["items"]).toMatchObject([{ message: "of a" }]);

  const limits = async () => {
    const { schedules: port } = await world.parts.app.service();
    return (await port.list({ tenantId: "a" })).map(({ maxCostMicro }) => maxCostMicro);
  };
  await save(world, tidy("0 * * * *", "version 2"), rich);
  expect(await limits()).toEqual([undefined]);
  await save(world, tidy("0 * * * *", "version 3"), a);
  expect(await limits()).toEqual([500_000]);

  await send(world, "DELETE", "/workflows/tidy", undefined, a);
  await passTime(world, HOUR);
  expect((await runsOf(world)).map(({ tenantId }) => tenantId)).toEqual(["b", "a"]);
});

test("who begins to fire sees to what somebody left who died between a definition and its schedule", async () => {
  const world = newWorld();
  await save(world, tidy("0 * * * *"));
  const { definitions } = await world.parts.app.service();
  await definitions.save({ name: "tidy", text: tidy("20 * * * *"), at: START });
  await schedulerOf(world).start([]);
  expect(await schedules(world)).toMatchObject([{ cron_expression: "20 * * * *", enabled: true }]);
  await definitions.remove({ name: "tidy" });
  await schedulerOf(world).start([]);
  expect(await schedules(world)).toMatchObject([{ disabled_reason: "definition_removed" }]);
});

test("a definition that an older version has saved gets its schedule at the next start, for its tenant, within what its keys may spend", async () => {
  const world = newWorld();
  const { definitions, schedules: port } = await world.parts.app.service();
  await definitions.save({ name: "tidy", tenantId: "a", text: tidy("0 * * * *"), at: START, maxCostMicro: 500_000 });
  await schedulerOf(world).start([]);
  expect(await port.list({})).toMatchObject([
    { workflow: "tidy", tenantId: "a", cron: "0 * * * *", enabled: true, maxCostMicro: 500_000 },
  ]);
  await passTime(world, HOUR);
  expect(await runsOf(world)).toMatchObject([{ tenantId: "a" }]);
  expect(await definitions.find({ name: "tidy", tenantId: "a" })).toMatchObject({ startsBy: "cron" });
});

test("whoever looks for schedules of files leaves those of saved definitions alone", async () => {
  const world = newWorld();
  const scheduler = schedulerOf(world);
  await scheduler.start([]);
  await save(world, tidy("0 * * * *"));
  await scheduler.update([]);
  expect(await schedules(world)).toMatchObject([{ enabled: true }]);
});

const triggered = (trigger: string) => `
workflowId: tidy
trigger: ${trigger}
startAt: a
steps:
  a: { type: mcp, target: t, end: true }
`;

test("a cron trigger of a saved definition is armed in its zone", async () => {
  const world = newWorld();
  const cron = '{ type: cron, config: { expression: "0 6 * * 1-5", timezone: Europe/Berlin } }';
  expect((await save(world, triggered(cron))).data["problems"]).toEqual([]);
  expect(await schedules(world)).toMatchObject([{ timezone: "Europe/Berlin", source: "saved" }]);
});
