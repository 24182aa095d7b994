import { expect, test } from "vitest";
import type { World } from "../faults/world.ts";
import { fanOut, items, overloadedWorld, sandstormWorld } from "./capacity-world.ts";

test("200 items on a server with 20 places all complete, though no step is retried", async () => {
  const { world, places } = await sandstormWorld({ holdMs: 30 });
  const run = await world.run(await fanOut(), items(200));

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(200);
  expect(await failuresOf(world, run.id)).toBe(0);
});

test("500 items on 20 places take less than 1.6 times the ideal 25 waves, and at most a fifth of the calls is refused", async () => {
  // Long enough that a busy machine matters little. In virtual time it is 1.3 and a tenth: `capacity-pool.test.ts`.
  const { world, places } = await sandstormWorld({ holdMs: 700 });
  const begin = performance.now();
  const run = await world.run(await fanOut(), items(500));
  const ratio = (performance.now() - begin) / places.idealMs;

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(500);
  expect(places.refusedShare).toBeLessThanOrEqual(0.2);
  expect(ratio).toBeLessThan(1.6);
});

test("a server that says nothing before the answer is filled as well", async () => {
  const { world, places } = await sandstormWorld({ holdMs: 300, isSilent: true });
  const run = await world.run(await fanOut(), items(500));

  expect(run.status).toBe("completed");
  expect([places.taken.length, places.most]).toEqual([500, 20]);
  expect(places.refusedShare).toBeLessThanOrEqual(0.25);
});

test("with a retry block and `skip` nothing is lost as null", async () => {
  const { world, places } = await sandstormWorld({ holdMs: 30 });
  const retry = { max_attempts: 3, backoff: "exponential", on_failure: "skip" };
  const run = await world.run(await fanOut({ retry }), items(200));

  expect(run.status).toBe("completed");
  expect(await failuresOf(world, run.id)).toBe(0);
  expect(places.taken.length).toBe(200);
});

test("a refused call waits as long as the server has named, and the others go on", async () => {
  const { world, places } = await sandstormWorld({ places: 5, holdMs: 200, headers: { "retry-after": "1" } });
  const run = await world.run(await fanOut(), items(50));

  expect(run.status).toBe("completed");
  expect(places.refused).toBeGreaterThan(0);
  const at = places.taken.map(({ atMs }) => atMs);
  expect(Math.max(...at.slice(1).map((next, index) => next - (at[index] ?? next)))).toBeLessThan(900);
});

test("two runs of 500 have at least 45 % of the places each, and a run of 5 behind them begins within one wave", async () => {
  const { world, places } = await sandstormWorld({ holdMs: 60 });
  const graph = await fanOut();
  const first = await world.start(graph, items(500, "a"));
  await until(() => places.taken.length > 40);
  const second = await world.start(graph, items(500, "b"));
  await until(() => places.taken.some(({ by }) => by.startsWith("b")));
  // Once each has its share.
  const from = places.taken.length + 60;
  await until(() => places.taken.length >= from + 400);

  const small = await world.start(graph, items(5, "c"));
  const asked = places.taken.length;
  expect((await world.host.settled(small.id)).status).toBe("completed");
  // A wave is 20 places.
  expect(places.taken.findLastIndex(({ by }) => by.startsWith("c")) - asked).toBeLessThan(2 * 20);

  const share = places.taken.slice(from, from + 400).filter(({ by }) => by.startsWith("a")).length / 400;
  expect(share).toBeGreaterThanOrEqual(0.45);
  expect(share).toBeLessThanOrEqual(0.55);
  const ends = await Promise.all([first, second].map(({ id }) => world.host.settled(id)));
  expect(ends.map(({ status }) => status)).toEqual(["completed", "completed"]);
});

test("a run with a higher priority gets the next places", async () => {
  const { world, places } = await sandstormWorld({ places: 4, holdMs: 50 });
  const graph = await fanOut();
  const first = await world.start(graph, items(60, "a"));
  await until(() => places.taken.length >= 8);
  const urgent = await world.start(graph, items(12, "b"), { options: { priority: 5 } });
  await until(() => places.taken.some(({ by }) => by.startsWith("b")));
  const from = places.taken.findIndex(({ by }) => by.startsWith("b"));
  expect((await world.host.settled(urgent.id)).status).toBe("completed");

  // The server may refuse some of them, which then wait by themselves.
  expect(places.taken.slice(from, from + 12).filter(({ by }) => by.startsWith("b")).length).toBeGreaterThanOrEqual(7);
  expect((await world.host.settled(first.id)).status).toBe("completed");
});

test("a run that is cancelled while its items wait ends at once, and the places go to others", async () => {
  const { world, places, capacity } = await sandstormWorld({ places: 2, holdMs: 100 });
  const graph = await fanOut();
  const cancelled = await world.start(graph, items(100, "a"));
  await until(() => places.refused > 0);
  const other = await world.start(graph, items(4, "b"));
  await world.host.request(cancelled.id, { type: "cancel" });

  expect((await world.host.settled(cancelled.id)).status).toBe("cancelled");
  expect((await world.host.settled(other.id)).status).toBe("completed");
  expect(capacity.pools()).toMatchObject([{ inFlight: 0, waiting: 0 }]);
});

test("a step that may run only once and waits when the process parks is sent by the next one", async () => {
  const { world, places, capacity } = await sandstormWorld({ places: 2, holdMs: 200 });
  const run = await world.start(await fanOut({ at_most_once: true }), items(8));
  await until(() => capacity.pools()[0]?.waiting === 6);
  await world.host.park(new AbortController().signal);
  expect(places.taken.length).toBeLessThan(8);

  const next = world.next();
  await next.host.recover();
  expect((await next.host.settled(run.id)).status).toBe("completed");
  expect(places.taken.length).toBe(8);
});

test("those who watch a run are told what its items wait for, and so is whoever asks", async () => {
  // With a limit: without one, sixteen calls may still be on their way when the first notice comes.
  const { world, capacity, server } = await sandstormWorld({ places: 2, limit: 2, holdMs: 400 });
  const run = await world.start(await fanOut(), items(8));
  const notices = world.notices(run.id);
  await until(() => notices.some(({ type }) => type === "live"));
  expect(capacity.waitsOf(run.id)).toMatchObject([{ name: server.url, waitingHere: expect.any(Number) }]);
  await world.host.settled(run.id);

  const told = notices.flatMap((notice) => (notice.type === "live" ? [notice.event] : []));
  expect(told[0]).toMatchObject({ type: "capacity", pool: server.url, in_flight: 2 });
  expect(told.at(-1)).toMatchObject({ type: "capacity", waiting: 0 });
  expect(capacity.waitsOf(run.id)).toEqual([]);
});

test("waiting for a place uses up nothing of a step's time-out", async () => {
  const { world, places } = await sandstormWorld({ places: 1, holdMs: 40 });
  const run = await world.start(await fanOut({ timeout: 5 }), items(6));
  // The step's time is the host's; the server's goes on by itself.
  await until(() => places.taken.length > 0);
  await world.clock.advance(4_000);
  const waiting = 6 - places.taken.length;
  expect(waiting).toBeGreaterThan(0);
  await until(() => places.taken.length > 6 - waiting);
  await world.clock.advance(4_000);

  expect((await world.host.settled(run.id)).status).toBe("completed");
});

test("an agent server that refuses everything for too long fails the step with its own words", async () => {
  const { world } = await sandstormWorld({ places: 0, patienceMs: 1_000 });
  const run = await world.run(await fanOut(), items(3));

  expect(run).toMatchObject({ status: "failed", error: { code: "AGENT_REFUSED" } });
  expect(run.error?.message).toContain("Too many agents at once");
});

async function failuresOf(world: World, runId: string): Promise<number> {
  return (await world.typesOf(runId)).filter((type) => type === "stepFailed").length;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("an agent whose run ends as overloaded waits for a second and begins again in the same attempt", async () => {
  const { world, server, capacity } = await overloadedWorld({ failures: 4, costUsd: 0.01 });
  const begin = performance.now();
  const run = await world.run(await fanOut(), items(30));

  expect(run).toMatchObject({ status: "completed", costMicro: 34 * 10_000 });
  expect((await world.typesOf(run.id)).includes("stepFailed")).toBe(false);
  expect(server.requests).toHaveLength(34);
  // A server that has answered under a key may only say so again.
  expect(new Set(server.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(34);
  expect(performance.now() - begin).toBeGreaterThan(1_000);
  expect(capacity.pools()[0]?.waiting).toBe(0);
});

test("an agent that may run only once and ends as overloaded has failed", async () => {
  const { world, server } = await overloadedWorld({ failures: 1, costUsd: 0.01 });
  const run = await world.run(await fanOut({ at_most_once: true }), items(1));
  expect(run).toMatchObject({ status: "failed", error: { code: "AGENT_ERROR_RESULT" } });
  expect(server.requests).toHaveLength(1);
});
