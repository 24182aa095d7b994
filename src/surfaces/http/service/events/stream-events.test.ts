import { expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { dataOf, readEvents } from "../../../../../test/fakes/read-events.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { traceOf } from "../../../../hosts/trace-context.ts";

const ADMIN = { "x-api-key": "configured" };

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], options);
}

async function runHello(world: HttpWorld, headers: Record<string, string> = {}): Promise<string> {
  const response = await world.post("/workflows/run/sync", { workflow: "hello", input: { word: "input" } }, headers);
  return ((await response.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
}

/** What is told until `count` runs have ended. */
function follow(world: HttpWorld, { headers = {}, query = "", count = 1 } = {}) {
  let ended = 0;
  return Promise.resolve(world.request(`/events${query}`, { headers })).then((response) =>
    readEvents(response, ({ event }) => event === "run.finished" && ++ended === count),
  );
}

test("everything that happens in runs is told from then on, without inputs and outputs", async () => {
  const world = newWorld({ plays: { work: () => succeed("the output", 12_500) } });
  await runHello(world);
  const following = follow(world, { count: 2 });
  await expect.poll(() => world.streams.open).toBe(1);
  const ids = [await runHello(world), await runHello(world)];
  const events = await following;
  expect(events.map(({ event }) => event)).toEqual([
    "ready",
    ...["run.started", "step.completed", "run.finished"],
    ...["run.started", "step.completed", "run.finished"],
  ]);
  expect(events.slice(1).map((event) => dataOf(event)["run_id"])).toEqual([
    ...Array(3).fill(ids[0]),
    ...Array(3).fill(ids[1]),
  ]);
  expect(dataOf(events[2])).toMatchObject({ workflow_name: "hello", path: "work#1", attempt: 1, cost_usd: 0.0125 });
  expect(dataOf(events[3])).toMatchObject({ status: "completed", error: null });
  expect(JSON.stringify(events)).not.toMatch(/the output|"input"/);
});

test("whoever asks again with the last id they saw gets exactly the rest", async () => {
  const world = newWorld({ plays: { work: () => fail("BROKEN") } });
  const following = follow(world, { count: 3 });
  await expect.poll(() => world.streams.open).toBe(1);
  for (let n = 0; n < 3; n += 1) await runHello(world);
  const whole = await following;
  for (const [n, { id = "" }] of whole.slice(0, -1).entries()) {
    const rest = whole.slice(n + 1);
    const count = rest.filter(({ event }) => event === "run.finished").length;
    expect(await follow(world, { query: `?after=${id}`, count })).toEqual(rest);
    expect(await follow(world, { headers: { "last-event-id": id }, count })).toEqual(rest);
  }
});

test("an id of another process, or of what is not kept any more, begins with a reset", async () => {
  const world = newWorld();
  for (const after of ["elsewhere-7", "epoch-999999"]) {
    const response = await world.request(`/events?after=${after}`);
    const [reset] = await readEvents(response, () => true);
    expect(reset).toMatchObject({ event: "reset", id: "epoch-0" });
    expect(dataOf(reset)).toMatchObject({ missed: null });
  }
  for (let n = 1; n <= 10_003; n += 1) {
    world.feed.committed({ runId: "r", workflow: "w", startedAt: 0, costMicro: 0, trace: traceOf("r", {}) }, [
      { seq: 1, event: { type: "runHeld", at: n } },
    ]);
  }
  const events = await readEvents(await world.request("/events?after=epoch-1"), ({ id }) => id === "epoch-10003");
  expect(dataOf(events[0])).toMatchObject({ missed: 2 });
  expect(events).toHaveLength(10_001);
  expect(events[0]).toMatchObject({ event: "reset", id: "epoch-3" });
  expect(events[1]).toMatchObject({ event: "run.held", id: "epoch-4" });
});

test("a tenant is told of its own runs only, and its numbers tell nothing of others", async () => {
  const world = newWorld({ server: { api_key: "configured" } });
  const keyOf = async (tenant: string) => {
    const response = await world.post("/keys", { name: tenant, scopes: ["run"], tenant_id: tenant }, ADMIN);
    const { data } = (await response.json()) as { readonly data: JsonObject };
    return { "x-api-key": String(data["key"]) };
  };
  const [a, b] = [await keyOf("a"), await keyOf("b")];
  const [ofA, ofB, ofAll] = [a, b, ADMIN].map((headers) =>
    follow(world, { headers, count: headers === ADMIN ? 3 : 1 }),
  );
  await expect.poll(() => world.streams.open).toBe(3);
  const own = await runHello(world, ADMIN);
  const [runOfA, runOfB] = [await runHello(world, a), await runHello(world, b)];
  const runsOf = async (following: ReturnType<typeof follow> | undefined) =>
    new Set((await following)?.slice(1).map((event) => dataOf(event)["run_id"]));
  expect(await runsOf(ofA)).toEqual(new Set([runOfA]));
  expect(await runsOf(ofB)).toEqual(new Set([runOfB]));
  expect(await runsOf(ofAll)).toEqual(new Set([own, runOfA, runOfB]));
  expect((await ofB)?.map(({ id }) => id)).toEqual(["epoch-0", "epoch-1", "epoch-2", "epoch-3"]);
  expect((await world.request("/events")).status).toBe(401);
});

test("a server that stops says so, and the stream ends", async () => {
  const world = newWorld();
  const following = readEvents(await world.request("/events"));
  await expect.poll(() => world.streams.open).toBe(1);
  world.streams.stop();
  expect((await following).at(-1)).toMatchObject({ event: "error", data: expect.stringContaining("SERVER_STOPPING") });
  expect(world.streams.open).toBe(0);
});
