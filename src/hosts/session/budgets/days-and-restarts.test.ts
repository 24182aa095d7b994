import { describe, expect, onTestFinished, test, vi } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { FakeClock } from "../../../../test/fakes/fake-clock.ts";
import { type Play, send, spends, succeed, World, type WorldOptions } from "../../../../test/faults/world.ts";
import { openServiceRecords } from "../../../app/open-service-records.ts";
import type { Budget, Budgets } from "../../../ports/service/budgets.ts";

const CHAIN = toGraph([agentTask("a"), { ...agentTask("b"), after: ["a"] }, { ...agentTask("c"), after: ["b"] }]);
const DAILY: Budget = {
  id: "shared",
  per: "day",
  limits: { cost: 250 },
  onExceeded: "stop",
  createdAt: 0,
  updatedAt: 0,
};

const costs = spends(100, { usage: { input_tokens: 3, output_tokens: 4 } });

function newWorld(options: WorldOptions = {}): { readonly world: World; readonly budgets: Budgets } {
  const { budgets, close } = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => close());
  const plays = { a: costs, b: costs, c: costs };
  return { world: new World({ plays, ...options, host: { openBudgets: async () => budgets } }), budgets };
}

const usedOn = async (budgets: Budgets, day: string) => {
  const { cost, tokens, tries } = (await budgets.sum("shared", day)).use;
  return { cost, tokens, tries };
};

describe("a budget of a day", () => {
  test("counts what a run uses to the day on which it was used, before and after a restart", async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 23, 59, 59));
    const slow = Promise.withResolvers<void>();
    const b: Play = async (task, signal) => {
      await slow.promise;
      return costs(task, signal);
    };
    const { world, budgets } = newWorld({ clock, plays: { a: costs, b, c: costs } });
    await budgets.put({ ...DAILY, limits: { cost: 300, tokens: 1_000 } });
    const { id } = await world.start(CHAIN);
    await expect.poll(() => world.calls.length).toBe(2);
    await clock.advance(2_000);
    slow.resolve();
    expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 300 });
    const days = { friday: await usedOn(budgets, "2026-01-02"), saturday: await usedOn(budgets, "2026-01-03") };
    expect(days).toMatchObject({ friday: { cost: 100, tokens: 7 }, saturday: { cost: 200, tokens: 14 } });
    expect(days.friday.tries + days.saturday.tries).toBe(3);
    await world.next().host.recover();
    expect({ friday: await usedOn(budgets, "2026-01-02"), saturday: await usedOn(budgets, "2026-01-03") }).toEqual(
      days,
    );
  });

  test("that asked yesterday is not raised today by a yes, for it has begun anew", async () => {
    const clock = new FakeClock(Date.UTC(2026, 0, 2, 23, 59, 50));
    const { world, budgets } = newWorld({ clock });
    await budgets.put({ ...DAILY, limits: { cost: 200 }, onExceeded: "ask" });
    const { id, status } = await world.run(CHAIN);
    expect(status).toBe("awaiting_approval");
    await clock.advance(60_000);
    await world.host.request(id, { type: "answer", path: "c", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
    expect(await budgets.sum("shared", "2026-01-03")).toMatchObject({ use: { cost: 100 }, raised: { cost: 0 } });
  });
});

describe("a shared budget", () => {
  test("has what a run has used also if the records could not be written at its end", async () => {
    const { world, budgets } = newWorld();
    await budgets.put(DAILY);
    const close = vi.spyOn(budgets, "close").mockRejectedValueOnce(new Error("The disk is full."));
    const { id } = await world.run(toGraph([agentTask("a")]));
    expect((await world.host.settled(id)).status).toBe("completed");
    await expect.poll(() => world.defects.length).toBe(1);
    await world.clock.advance(2_000);
    await expect.poll(() => close.mock.calls.length).toBe(2);
    expect([await budgets.open(), (await usedOn(budgets, "2026-01-02")).cost]).toEqual([[], 100]);
  });

  test("that is raised while a run waits for those that fly lets it go on", async () => {
    const first = Promise.withResolvers<void>();
    let sent = 0;
    const a: Play = async (task) => {
      const settle = await send(task, 100);
      sent += 1;
      await first.promise;
      settle(100);
      return succeed("x", 100);
    };
    const { world, budgets } = newWorld({ plays: { a } });
    await budgets.put({ ...DAILY, limits: { cost: 190 } });
    const started = await Promise.all(Array.from({ length: 5 }, () => world.start(toGraph([agentTask("a")]))));
    await expect.poll(() => sent).toBe(1);
    await budgets.put({ ...DAILY, limits: { cost: 4_000 } });
    first.resolve();
    const runs = await Promise.all(started.map(({ id }) => world.host.settled(id)));
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => "completed"));
  });

  test("of tokens does not hold back attempts of one step as one of money does", async () => {
    const first = Promise.withResolvers<void>();
    const a: Play = async (task, signal) => {
      await first.promise;
      return costs(task, signal);
    };
    const { world, budgets } = newWorld({ plays: { a } });
    await budgets.put({ ...DAILY, limits: { tokens: 4_000 } });
    const started = await Promise.all(Array.from({ length: 4 }, () => world.start(toGraph([agentTask("a")]))));
    await expect.poll(() => world.calls.length).toBe(4);
    first.resolve();
    await Promise.all(started.map(({ id }) => world.host.settled(id)));
  });

  test("that somebody has raised meanwhile is not raised by a yes as well", async () => {
    const { world, budgets } = newWorld();
    await budgets.put({ ...DAILY, limits: { cost: 200 }, onExceeded: "ask" });
    const { id } = await world.run(CHAIN);
    await budgets.put({ ...DAILY, limits: { cost: 900 }, onExceeded: "ask" });
    await world.host.request(id, { type: "answer", path: "c", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
    expect(await budgets.sum("shared", "2026-01-02")).toMatchObject({ raised: { cost: 0 } });
  });

  test("lets whoever waits for a yes go on without it once it is removed", async () => {
    const { world, budgets } = newWorld();
    await budgets.put({ ...DAILY, limits: { cost: 200 }, onExceeded: "ask" });
    const { id } = await world.run(CHAIN);
    await budgets.remove("shared");
    await world.host.request(id, { type: "answer", path: "c", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
  });

  test("that is removed and set again counts from nothing, and binds only those that begin after that", async () => {
    const { world, budgets } = newWorld();
    await budgets.put({ ...DAILY, limits: { cost: 200 }, onExceeded: "ask" });
    const { id } = await world.run(CHAIN);
    await budgets.remove("shared");
    await budgets.put({ ...DAILY, limits: { cost: 300 }, createdAt: 1 });
    expect(await world.run(CHAIN)).toMatchObject({ status: "completed" });
    expect(await usedOn(budgets, "2026-01-02")).toMatchObject({ cost: 300, tries: 3 });
    await world.host.request(id, { type: "answer", path: "c", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
    expect(await usedOn(budgets, "2026-01-02")).toMatchObject({ cost: 300, tries: 3 });
  });

  test("is lowered under what is spent: nothing more is sent", async () => {
    const { world, budgets } = newWorld();
    await budgets.put({ ...DAILY, limits: { cost: 1_000 } });
    await world.run(CHAIN);
    await budgets.put({ ...DAILY, limits: { cost: 1 } });
    expect(await world.run(CHAIN)).toMatchObject({
      status: "budget_exceeded",
      error: { code: "BUDGET_EXCEEDED" },
      costMicro: 0,
    });
  });

  test("is never exceeded after a restart, when nothing is known of a step", async () => {
    const { world, budgets } = newWorld({ plays: { a: costs } });
    await budgets.put({ ...DAILY, limits: { cost: 1_000 } });
    await world.run(toGraph([agentTask("a")]));
    const list = { op: "literal", value: [1, 2, 3, 4, 5, 6, 7, 8] } as const;
    const wide = toGraph([{ ...agentTask("a"), each: { list, maxConcurrent: 8 } }]);
    const next = world.next({ plays: { a: spends(300) } });
    await next.host.recover();
    const runs = await Promise.all([next.run(wide), next.run(wide), next.run(wide)]);
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(["budget_exceeded"]));
    expect((await usedOn(budgets, "2026-01-02")).cost).toBe(1_000);
  });
});
