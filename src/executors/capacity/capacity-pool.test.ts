import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedServer } from "../../../test/fakes/simulated-server.ts";

const SECOND = 1_000;

test.each([
  ["", {}, 0],
  [" that says nothing before it answers", { isSilent: true }, 0],
  [" that names a time at each refusal", { retryAfter: "2" }, 2],
])(
  "500 calls to a server%s take at most 1.15 times the ideal, and at most 5 %% are refused",
  async (_, over, pauses) => {
    const server = new SimulatedServer({ places: 20, ...over });
    server.ask(500);
    const tookMs = await server.runToEnd(100 * SECOND);

    expect(server.answers).toEqual({ answered: 500, failed: 0 });
    expect(server.refused / server.sentAt.length).toBeLessThanOrEqual(0.05);
    expect(tookMs - pauses * 2 * SECOND).toBeLessThanOrEqual(1.15 * 25 * SECOND);
    expect(server.pool.state.width).toBe(20);
  },
);

describe.each(["fixed", "sliding", "bucket"] as const)("a server that limits the rate, %s", (kind) => {
  test.each([
    [5, 50, undefined],
    [10, 50, undefined],
    [10, 300, "1"],
    [20, 20, "1"],
    [20, 300, undefined],
  ])(
    "of %s calls a second of %s ms (Retry-After: %s) answers 500 of 500 and refuses at most one in twenty",
    async (count, holdMs, retryAfter) => {
      const rate = { count, windowMs: SECOND, kind };
      const server = new SimulatedServer({ places: 10_000, rate, holdMs, retryAfter });
      server.ask(500);
      const tookMs = await server.runToEnd(3_600 * SECOND);

      expect(server.answers).toEqual({ answered: 500, failed: 0 });
      expect(server.refused / server.sentAt.length).toBeLessThanOrEqual(0.05);
      expect(tookMs).toBeLessThanOrEqual(1.6 * (500 / count) * SECOND);
      expect(server.pool.state.perSecond).toBeGreaterThan(count / 2);
    },
  );

  test.each([60, 300])("of %s calls a minute, which it tells, refuses next to nothing", async (count) => {
    const tells = (remaining: number, resetMs: number) => ({
      "x-ratelimit-remaining-requests": String(remaining),
      "x-ratelimit-reset-requests": `${resetMs}ms`,
    });
    const rate = { count, windowMs: 60 * SECOND, kind };
    const server = new SimulatedServer({ places: 10_000, rate, holdMs: 300, tells });
    server.ask(500);
    const tookMs = await server.runToEnd(3_600 * SECOND);

    expect(server.answers).toEqual({ answered: 500, failed: 0 });
    expect(server.refused).toBeLessThanOrEqual(10);
    expect(tookMs).toBeLessThanOrEqual(1.5 * (500 / count) * 60 * SECOND);
  });
});

test("a server that tells how many tokens are left is sent no more calls than they are enough for", async () => {
  let left = 10_000;
  const tells = () => {
    left -= 100;
    return { "x-ratelimit-remaining-tokens": String(left), "x-ratelimit-reset-tokens": "30s" };
  };
  const rate = { count: 100, windowMs: 30 * SECOND, kind: "fixed" } as const;
  const server = new SimulatedServer({ places: 10_000, rate, holdMs: 300, tells });
  server.ask(150);
  await server.run(20 * SECOND);
  expect(server.answers.answered).toBeGreaterThan(80);
  expect(server.refused).toBe(0);
  left = 10_000;
  await server.runToEnd(60 * SECOND);
  expect(server.answers).toEqual({ answered: 150, failed: 0 });
});

test("a server that can do more later is found out, and one that can do less is not asked for ever", async () => {
  const server = new SimulatedServer({ places: 20, holdMs: 3 * SECOND });
  server.ask(4_000);
  await server.run(60 * SECOND);
  server.places = 60;
  await server.run(120 * SECOND);
  expect(server.pool.state.width).toBeGreaterThanOrEqual(60);

  const refusedBefore = server.refused;
  server.places = 5;
  await server.run(20 * SECOND);
  expect(server.pool.state.width).toBeLessThanOrEqual(8);
  expect(server.refused - refusedBefore).toBeLessThan(120);
});

test("where a server names a time nobody asks it before", async () => {
  const server = new SimulatedServer({ places: 4, retryAfter: "7" });
  server.ask(50);
  await server.run(10 * SECOND);

  const [first = 0] = server.refusedAt;
  const during = server.sentAt.filter((at) => at > first && at < first + 7 * SECOND);
  expect(first).toBeGreaterThan(0);
  expect(during).toEqual([]);
  await server.run(300 * SECOND);
  expect(server.answers).toEqual({ answered: 50, failed: 0 });
});

test("several overloads of one wave are one signal: the width is halved once", async () => {
  const server = new SimulatedServer({ places: 20 });
  server.ask(200);
  await server.run(3 * SECOND);
  expect(server.pool.state.width).toBe(20);

  server.overloadAll();
  await server.run(1);
  expect(server.pool.state.width).toBe(10);
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
  expect(server.refused).toBeLessThan(20);
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

test("a place that is freed a moment late costs a few refusals and no width", async () => {
  const server = new SimulatedServer({ places: 20, freesLateMs: 15 });
  server.ask(1_000);
  await server.run(100 * SECOND);

  expect(server.answers).toEqual({ answered: 1_000, failed: 0 });
  expect(server.refused).toBeLessThanOrEqual(50);
  expect(server.pool.state.width).toBeGreaterThanOrEqual(19);
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

test("whatever a server does, no more calls are in flight than the width, none starves, and an outage is recovered from", async () => {
  const scenario = fc.record({
    places: fc.integer({ min: 1, max: 40 }),
    holdMs: fc.integer({ min: 500, max: 5_000 }),
    freesLateMs: fc.constantFrom(0, 0, 10),
    retryAfter: fc.constantFrom(undefined, "1"),
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

    // What is found out is tried again and again, so that a single moment says little.
    const most: number[] = [];
    for (let left = 60; left > 0; left -= 1) {
      server.ask(later * 2);
      await server.run(2 * options.holdMs + SECOND);
      most.push(server.mostLately);
    }
    const last = most.slice(-30);
    expect(last.reduce((sum, each) => sum + each, 0) / last.length).toBeGreaterThanOrEqual(Math.floor(later * 0.75));
  });
  const found = { places: 13, holdMs: 505, freesLateMs: 10, retryAfter: "1", runs: [16, 33, 20, 48, 34] } as const;
  const example = { ...found, runs: [...found.runs], outage: { atMs: 4_887, forMs: 60_000 }, later: 7 };
  await fc.assert(holds, { numRuns: 40, endOnFailure: true, examples: [[example]] });
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

  test("find out together how many calls a server takes at once", async () => {
    const server = new SimulatedServer({ places: 20, processes });
    for (const process of each) server.ask(500 / processes, { process, runId: `run ${process}` });
    const tookMs = await server.runToEnd(100 * SECOND);

    expect(server.answers).toEqual({ answered: 500, failed: 0 });
    expect(server.refused / server.sentAt.length).toBeLessThanOrEqual(0.15);
    expect(tookMs).toBeLessThanOrEqual(1.5 * 25 * SECOND);
  });

  test.each([5, 20])("find out together that a server takes %s calls a second", async (count) => {
    const rate = { count, windowMs: SECOND, kind: "sliding" } as const;
    const server = new SimulatedServer({ places: 10_000, rate, holdMs: 50, processes });
    for (const process of each) server.ask(400 / processes, { process, runId: `run ${process}` });
    const tookMs = await server.runToEnd(3_600 * SECOND);

    expect(server.answers).toEqual({ answered: 400, failed: 0 });
    expect(server.refused / server.sentAt.length).toBeLessThanOrEqual(0.15);
    expect(tookMs).toBeLessThanOrEqual(2 * (400 / count) * SECOND);
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
