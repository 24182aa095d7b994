import { expect, test } from "vitest";
import { newRun, reserveRuns } from "../../../../../test/contracts/journal-samples.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { dataOf, readEvents } from "../../../../../test/fakes/read-events.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { LogCursor } from "../../../../operations/events/event-feed.ts";

const ADMIN = { "x-api-key": "configured" };

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], options);
}

async function runHello(world: HttpWorld, headers: Record<string, string> = {}): Promise<string> {
  const response = await world.post("/workflows/run/sync", { workflow: "hello", input: { word: "input" } }, headers);
  return ((await response.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
}

/** Where somebody stands who follows from now on. */
async function firstId(world: HttpWorld, headers: Record<string, string> = {}): Promise<string> {
  const [ready] = await readEvents(await world.request("/events", { headers }), () => true);
  return ready?.id ?? "";
}

async function keyOf(world: HttpWorld, tenant: string): Promise<Record<string, string>> {
  const response = await world.post("/keys", { name: tenant, scopes: ["run"], tenant_id: tenant }, ADMIN);
  const { data } = (await response.json()) as { readonly data: JsonObject };
  return { "x-api-key": String(data["key"]) };
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

test("an id of another history begins with a reset, whatever it is", async () => {
  const [world, other] = [newWorld(), newWorld()];
  const following = follow(other);
  await expect.poll(() => other.streams.open).toBe(1);
  await runHello(other);
  const foreign = (await following).at(-1)?.id;
  const overwritten = new LogCursor(new Uint8Array(32)).write({ commit: 1, at: 1, index: 1 });
  for (const after of ["elsewhere-7", "epoch-999999", foreign, overwritten, "A".repeat(22)]) {
    const [reset] = await readEvents(await world.request(`/events?after=${after}`), () => true);
    expect(reset).toMatchObject({ event: "reset" });
    expect(dataOf(reset)).toMatchObject({ missed: null });
  }
  expect((await world.request("/events?after=%2F%2F")).status).toBe(400);
});

test("what is missing since its run was deleted is told where it was, and only to those whose it was", async () => {
  const world = newWorld({ server: { api_key: "configured" } });
  const [ofA, ofB] = [await keyOf(world, "a"), await keyOf(world, "b")];
  const begin = await firstId(world, ADMIN);
  const [gone, stays] = [await runHello(world, ofA), await runHello(world, ADMIN)];
  expect((await world.request(`/runs/${gone}`, { method: "DELETE", headers: ADMIN })).status).toBe(200);
  const [reset, ...rest] = await follow(world, { headers: ADMIN, query: `?after=${begin}` });
  expect(dataOf(reset)).toMatchObject({ missed: 3 });
  expect(rest.map((event) => dataOf(event)["run_id"])).toEqual(Array(3).fill(stays));
  const later = await runHello(world, ofB);
  const seen = await follow(world, { headers: ofB, query: `?after=${begin}` });
  expect(seen.map((event) => [event.event, dataOf(event)["run_id"]])).toEqual([
    ["run.started", later],
    ["step.completed", later],
    ["run.finished", later],
  ]);
});

test("50,000 events behind, a follower gets each once, in order, while it and others hold next to nothing", async () => {
  const world = newWorld();
  const begin = await firstId(world);
  const { journal } = world.world;
  const runs = await reserveRuns(journal, 50);
  for (let batch = 0; batch < 100; batch += 1) {
    const events = Array.from({ length: 10 }, (_, n) => ({
      event: { type: "stepStarted", at: batch, path: `s${batch * 10 + n}`, attempt: 1 } as const,
    }));
    await journal.append(
      runs.map((run) => ({ run, afterSeq: batch * 10, events, ...(batch === 0 && { create: newRun(`r${run}`) }) })),
    );
  }
  const slow = await world.request(`/events?after=${begin}`);
  const reader = slow.body?.getReader();
  await reader?.read();
  const seen = new Map<string, number>();
  const misplaced: unknown[] = [];
  let count = 0;
  await readEvents(await world.request(`/events?after=${begin}`), (event) => {
    const { run_id: run, seq } = dataOf(event);
    if (seq !== (seen.get(String(run)) ?? 0) + 1) misplaced.push({ run, seq });
    seen.set(String(run), Number(seq));
    count += 1;
    return count === 50_000;
  });
  expect(misplaced).toEqual([]);
  expect(seen.size).toBe(50);
  await reader?.cancel();
});

test("a tenant is told of its own runs only, and its numbers tell nothing of others", async () => {
  const world = newWorld({ server: { api_key: "configured" } });
  const [a, b] = [await keyOf(world, "a"), await keyOf(world, "b")];
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
  // Nothing in an id can be counted, and none is like another.
  const ids = (await ofAll)?.map(({ id = "" }) => id) ?? [];
  expect(new Set(ids.map((id) => id.slice(0, 4))).size).toBe(ids.length);
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
