import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedServer } from "../../../test/fakes/simulated-server.ts";

const SECOND = 1_000;

/** A server of each kind: one that says at once that it works on a call, and one that says nothing before its answer. */
const KINDS = [
  ["that begins to answer at once", { isSilent: false }],
  ["that is silent until its answer", { isSilent: true }],
] as const;

interface Asked extends Partial<ConstructorParameters<typeof SimulatedServer>[0]> {
  readonly calls: number;
}

/** Asks for many calls, and waits for all of them. The calls take more or less than they should, by a fifth. */
async function askAll({ calls, ...options }: Asked) {
  const server = new SimulatedServer({ places: 10_000, spread: 0.2, ...options });
  server.ask(calls);
  const tookMs = await server.runToEnd(36_000 * SECOND);
  expect(server.answers.answered + server.answers.failed).toBe(calls);
  return { server, tookMs, refusedShare: server.refused / server.sentAt.length };
}

/** What is found with most seeds. */
async function middle(of: (seed: number) => Promise<number>): Promise<number> {
  const found = await Promise.all([1, 2, 3].map(of));
  return found.sort((one, other) => one - other)[1] ?? Number.NaN;
}

describe.each(KINDS)("a server %s", (_, kind) => {
  test.each([
    [20, undefined],
    [200, undefined],
    [5_000, undefined],
    [5_000, "1"],
  ])(
    "of 20 places answers 500 calls of %s ms (Retry-After: %s) in 1.3 times the ideal, and refuses at most a tenth",
    async (holdMs, retryAfter) => {
      const { server, tookMs, refusedShare } = await askAll({ ...kind, calls: 500, places: 20, holdMs, retryAfter });
      expect(server.failures).toEqual([]);
      expect(refusedShare).toBeLessThanOrEqual(0.1);
      expect(tookMs).toBeLessThanOrEqual(1.3 * 25 * (holdMs + 2));
    },
  );

  test.each([
    [20, 100, 0.05, "1"],
    [20, 100, 0.1, "1"],
    [20, 200, 0.1, undefined],
    [200, 300, 0.1, undefined],
    [20, 500, 0.2, undefined],
    [60_000, 500, 0.1, undefined],
  ])(
    "with room for all that refuses calls of %s ms by chance (%s calls, %s, Retry-After: %s) takes at most 2.5 times as long, and 2 s",
    async (holdMs, calls, refuses, retryAfter) => {
      const asked = { ...kind, calls, holdMs, retryAfter };
      const { tookMs: undisturbedMs } = await askAll(asked);
      const tookMs = await middle(async (seed) => (await askAll({ ...asked, refuses, seed })).tookMs);
      expect(tookMs).toBeLessThanOrEqual(2.5 * undisturbedMs + 2 * SECOND);
    },
  );

  test("that refuses one in ten calls of 200 ms by chance is at least twice as fast as eight places would be", async () => {
    const tookMs = await middle(
      async (seed) => (await askAll({ ...kind, calls: 300, holdMs: 200, refuses: 0.1, seed })).tookMs,
    );
    expect(tookMs).toBeLessThanOrEqual((300 / 8) * 200 * 2);
  });

  test("whose answers also break, and are asked for again by the step, takes at most three times as long", async () => {
    const asked = { ...kind, calls: 500, holdMs: 200 };
    const { tookMs: undisturbedMs } = await askAll(asked);
    const tookMs = await middle(async (seed) => (await askAll({ ...asked, refuses: 0.1, breaks: 0.2, seed })).tookMs);
    expect(tookMs).toBeLessThanOrEqual(3 * undisturbedMs + 2 * SECOND);
  });

  test.each(["fixed", "sliding", "bucket"] as const)(
    "that takes 40 calls a second (%s) is asked for as many",
    async (way) => {
      const rate = { count: 40, windowMs: SECOND, kind: way };
      for (const holdMs of [20, 200]) {
        const tookMs = await middle(async (seed) => (await askAll({ ...kind, calls: 500, rate, holdMs, seed })).tookMs);
        expect(tookMs).toBeLessThanOrEqual(1.3 * (500 / 40) * SECOND);
      }
    },
  );

  test.each([
    [6, 200, 20],
    [30, 20, 20],
    [6, 200, 10_000],
  ])(
    "that is out for %s s (calls of %s ms, %s places) goes on within five seconds",
    async (seconds, holdMs, places) => {
      const calls = Math.min(places, 50) * Math.ceil((4 * SECOND) / holdMs);
      const { tookMs: undisturbedMs } = await askAll({ ...kind, calls, holdMs, places });
      const server = new SimulatedServer({ ...kind, places, holdMs, spread: 0.2 });
      server.ask(calls);
      await server.run(SECOND);
      server.places = 0;
      await server.run(seconds * SECOND);
      server.places = places;
      const tookMs = SECOND + (await server.runToEnd(36_000 * SECOND));
      expect(server.answers).toEqual({ answered: calls, failed: 0 });
      expect(tookMs).toBeLessThanOrEqual(undisturbedMs + 5 * SECOND);
    },
  );

  test("whose room changes is followed: fewer at once soon, and more within seconds", async () => {
    const server = new SimulatedServer({ ...kind, places: 20, holdMs: 200, spread: 0.2 });
    server.ask(4_000);
    await server.run(5 * SECOND);
    const inUse: number[] = [];
    for (const places of [5, 40, 20]) {
      server.places = places;
      await server.run(3 * SECOND);
      const before = server.taken.length;
      await server.run(5 * SECOND);
      inUse.push((server.taken.length - before) / 25 / places);
    }
    for (const share of inUse) expect(share).toBeGreaterThan(0.8);
  });
});

test("calls of minutes are all in flight within seconds where there is room, also where the rate is limited", async () => {
  for (const rate of [undefined, { count: 40, windowMs: SECOND, kind: "bucket" } as const]) {
    const server = new SimulatedServer({ places: 10_000, holdMs: 300 * SECOND, refuses: 0.1, ...(rate && { rate }) });
    server.ask(500);
    await server.run(40 * SECOND);
    expect(server.most).toBeGreaterThan(490);
  }
});

test("a refused call waits as long as the server has named, and the others go on", async () => {
  const server = new SimulatedServer({ places: 4, retryAfter: "7", holdMs: 500 });
  server.ask(50);
  await server.run(5 * SECOND);
  expect(server.refused).toBeGreaterThan(0);
  expect(server.answers.answered).toBeGreaterThan(25);
  await server.runToEnd(300 * SECOND);
  expect(server.answers).toEqual({ answered: 50, failed: 0 });
});

test("a server that refuses all is asked by one call at a time, at most every two seconds", async () => {
  const server = new SimulatedServer({ places: 0 });
  server.ask(500);
  await server.run(20 * SECOND);
  const before = server.sentAt.length;
  await server.run(20 * SECOND);
  expect(server.sentAt.length - before).toBeLessThanOrEqual(11);
  expect(server.pool.state.closedUntil).toBeDefined();
});

test("a call that is stopped while it waits has done nothing, and its place goes to the next", async () => {
  const server = new SimulatedServer({ places: 1, limits: { server: 1 } });
  server.ask(1);
  const stop = new AbortController();
  const stopped = server.askOne({ runId: "other" }, stop.signal);
  server.ask(1);
  stop.abort();

  expect(await stopped).toMatchObject({ code: "INTERRUPTED", effect: "none", costMicro: 0 });
  await server.run(10 * SECOND);
  expect(server.answers).toEqual({ answered: 2, failed: 1 });
});

test("a server that refuses everything for longer than the patience fails what waits, with its refusal as the cause", async () => {
  const server = new SimulatedServer({ places: 0, patienceMs: 60 * SECOND });
  server.ask(100);
  await server.run(40 * SECOND);
  expect(server.answers).toEqual({ answered: 0, failed: 0 });
  expect(server.refused).toBeLessThan(60);
  await server.run(60 * SECOND);

  expect(server.answers).toEqual({ answered: 0, failed: 100 });
  expect(server.failures[0]).toMatchObject({ code: "AGENT_REFUSED", details: { status: 429 } });
});

test("a server that asks for more time than anybody waits fails what waits at once", async () => {
  const server = new SimulatedServer({ places: 0, retryAfter: "86400", patienceMs: 3_600 * SECOND });
  server.ask(100);
  await server.run(SECOND);

  expect(server.answers).toEqual({ answered: 0, failed: 100 });
});

test("a provider that has no credit left is not asked again", async () => {
  const server = new SimulatedServer({ places: 0, reason: '{"error": {"code": "insufficient_quota"}}' });
  server.ask(1);
  await server.run(SECOND);

  expect(server.answers).toEqual({ answered: 0, failed: 1 });
  expect(server.sentAt.length).toBe(1);
});

test("configured limits are ceilings, also one for all models of a provider", async () => {
  const server = new SimulatedServer({ places: 100, limits: { server: 7 } });
  server.ask(300);
  await server.run(60 * SECOND);
  expect([server.most, server.answers.answered]).toEqual([7, 300]);

  const provider = new SimulatedServer({ places: 100, limits: { acme: 9 }, models: ["large", "small"] });
  provider.ask(150, { model: "large" });
  provider.ask(150, { model: "small" });
  await provider.run(60 * SECOND);
  expect([provider.most, provider.answers.answered]).toEqual([9, 300]);
});

test("two runs share the places equally, and a small run behind a large one begins with the next place", async () => {
  const server = new SimulatedServer({ places: 20 });
  server.ask(500, { runId: "large" });
  await server.run(3 * SECOND);
  server.ask(5, { runId: "small" });
  server.ask(500, { runId: "other" });
  const from = server.taken.length;
  await server.run(1_100);
  expect(server.taken.slice(from).filter((runId) => runId === "small").length).toBe(5);

  await server.run(15 * SECOND);
  const shares = server.taken.slice(from + 100, from + 260);
  const ofLarge = shares.filter((runId) => runId === "large").length / shares.length;
  expect(ofLarge).toBeGreaterThan(0.45);
  expect(ofLarge).toBeLessThan(0.55);
});

test("tenants share the places equally, however many runs each has", async () => {
  const server = new SimulatedServer({ places: 20 });
  for (let run = 0; run < 9; run += 1) server.ask(100, { runId: `a${run}`, tenantId: "a" });
  server.ask(500, { runId: "b", tenantId: "b" });
  await server.run(20 * SECOND);

  const shares = server.taken.slice(100, 300);
  expect(shares.filter((runId) => runId === "b").length / shares.length).toBeGreaterThan(0.45);
});

test("a higher priority goes first, and a lower one does not wait for ever", async () => {
  const server = new SimulatedServer({ places: 2, holdMs: 10 * SECOND, limits: { server: 2 } });
  server.ask(100, { runId: "low" });
  server.ask(100, { runId: "high", priority: 2 });
  await server.run(110 * SECOND);
  expect(server.taken.slice(2, 18)).toEqual(new Array(16).fill("high"));

  await server.run(300 * SECOND);
  const ofLow = server.taken.slice(2).filter((runId) => runId === "low").length;
  expect(ofLow).toBeGreaterThanOrEqual(2);
  expect(ofLow).toBeLessThan(8);
});

test("whatever a server does, no more calls are in flight than the width and a probe, and none starves", async () => {
  const scenario = fc.record({
    places: fc.integer({ min: 1, max: 40 }),
    holdMs: fc.integer({ min: 5, max: 5_000 }),
    freesLateMs: fc.constantFrom(0, 0, 10),
    retryAfter: fc.constantFrom(undefined, "1"),
    refuses: fc.constantFrom(0, 0.1, 0.5),
    isSilent: fc.boolean(),
    runs: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
    outage: fc.record({ atMs: fc.integer({ min: 0, max: 5_000 }), forMs: fc.integer({ min: 0, max: 60_000 }) }),
    later: fc.integer({ min: 1, max: 20 }),
  });
  const holds = fc.asyncProperty(scenario, async ({ runs, outage, later, ...options }) => {
    const server = new SimulatedServer(options);
    for (const [index, calls] of runs.entries()) server.ask(calls, { runId: `run ${index}` });
    await server.run(outage.atMs);
    server.places = 0;
    await server.run(outage.forMs);
    server.places = later;
    await server.runToEnd(3_600 * SECOND);
    const asked = runs.reduce((sum, calls) => sum + calls, 0);
    expect(server.answers).toEqual({ answered: asked, failed: 0 });
    expect(server.mostBeyondWidth).toBeLessThanOrEqual(1);
  });
  await fc.assert(holds, { numRuns: 40, endOnFailure: true });
});

describe.each([2, 4])("%s processes", (processes) => {
  const each = Array.from({ length: processes }, (_, index) => index);

  test.each([1, 3, 7, 20])(
    "never have more than the %s calls in flight that are configured, and use all of them",
    async (max) => {
      const server = new SimulatedServer({ places: 100, limits: { server: max }, processes });
      for (const process of each) server.ask(10 * max, { process, runId: `run ${process}` });
      const tookMs = await server.runToEnd(1_000 * SECOND);

      expect([server.most, server.answers]).toEqual([max, { answered: processes * 10 * max, failed: 0 }]);
      expect(tookMs).toBeLessThanOrEqual(1.5 * processes * 10 * SECOND + 2 * SECOND);
    },
  );

  test("share the limit of a provider, whatever models they ask", async () => {
    const server = new SimulatedServer({ places: 100, limits: { acme: 9 }, processes });
    for (const process of each) server.ask(60, { process, model: process % 2 === 0 ? "large" : "small" });
    await server.run(100 * SECOND);
    expect([server.most, server.answers.answered]).toEqual([9, processes * 60]);
  });

  test("one of them may use what the others do not want", async () => {
    const server = new SimulatedServer({ places: 100, limits: { server: 8 }, processes });
    server.ask(4, { process: 1, runId: "small" });
    await server.run(SECOND);
    server.ask(160, { runId: "large" });
    expect(await server.runToEnd(100 * SECOND)).toBeLessThanOrEqual(22 * SECOND);
  });

  test("have equal parts of a server's places, also one that comes late", async () => {
    const server = new SimulatedServer({ places: 20, processes, spread: 0.2 });
    server.ask(2_000, { process: 0, runId: "first" });
    await server.run(10 * SECOND);
    for (const process of each.slice(1)) server.ask(1_000, { process, runId: `run ${process}` });
    await server.run(10 * SECOND);
    const from = server.taken.length;
    await server.run(30 * SECOND);
    const shares = server.taken.slice(from);
    for (const runId of ["first", ...each.slice(1).map((process) => `run ${process}`)])
      expect(shares.filter((taken) => taken === runId).length / shares.length).toBeGreaterThan(0.8 / processes);
    expect(shares.length).toBeGreaterThan(0.9 * 20 * 30);
  });

  test("whose exchanges fail send nothing when others may have their places", async () => {
    const server = new SimulatedServer({ places: 100, limits: { server: 4 }, processes });
    for (const process of each) server.ask(200, { process, runId: `run ${process}` });
    await server.run(3 * SECOND);
    server.shares.isBroken = true;
    await server.run(12 * SECOND);
    const sent = server.sentAt.length;
    await server.run(10 * SECOND);
    expect(server.sentAt.length).toBe(sent);

    server.shares.isBroken = false;
    await server.runToEnd(1_000 * SECOND);
    expect([server.most, server.answers.answered]).toEqual([4, processes * 200]);
  });
});
