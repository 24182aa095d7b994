import { describe, expect, onTestFinished, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { fail, type Play, send, spends, succeed, World, type WorldOptions } from "../../../../test/faults/world.ts";
import { openServiceRecords } from "../../../app/open-service-records.ts";
import type { TaskStep } from "../../../core/graph/graph.ts";
import type { Budget } from "../../../ports/service/budgets.ts";

const SKIPPED = toGraph([
  { ...agentTask("a"), onFailure: "skip" },
  { ...agentTask("b"), after: ["a"] },
]);

const itemsOf = (count: number, more: Partial<TaskStep> = {}) => {
  const list = { op: "literal", value: Array.from({ length: count }, (_, n) => n) } as const;
  return toGraph([{ ...agentTask("a"), ...more, each: { list, maxConcurrent: count } }]);
};

/** So many turns at 100 micro-dollars, each of them on record, and paid once. */
const turns =
  (count: number): Play =>
  async (task) => {
    const done = Number((await task.recorded("done")) ?? 0);
    for (let turn = done; turn < count; turn += 1) {
      const reservation = await task.reserve({ atMostMicro: 100, plannedMicro: count * 100, payee: "test" });
      const costMicro = (turn - done) * 100;
      if ("status" in reservation) return { ...reservation, costMicro };
      (await reservation.record())(100);
      reservation.release();
      await task.record("done", turn + 1);
    }
    return succeed("x", (count - done) * 100);
  };

/** An agent elsewhere: it is given a limit, spends all of it if it needs more, and begins from its start each time. */
const repeats =
  (costMicro: number): Play =>
  async (task) => {
    const reservation = await task.reserve({ atMostMicro: costMicro, leastMicro: 1, payee: "test" });
    if ("status" in reservation) return reservation;
    const { atMostMicro = costMicro } = reservation;
    (await reservation.record())(atMostMicro);
    reservation.release();
    if (atMostMicro === costMicro) return succeed("x", costMicro);
    return fail("AGENT_ERROR_RESULT", { costMicro: atMostMicro, outspent: { goesOn: false }, effect: "done" });
  };

function worldWith(budget: Partial<Budget>, options: WorldOptions): World {
  const { budgets, close } = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => close());
  void budgets.put({
    id: "shared",
    per: "total",
    limits: { cost: 1_000 },
    onExceeded: "stop",
    createdAt: 0,
    updatedAt: 0,
    ...budget,
  });
  return new World({ ...options, host: { openBudgets: async () => budgets } });
}

describe("a budget that is too little for an agent", () => {
  test("stops the run, where runs share it, and no later step begins", async () => {
    const world = worldWith({}, { plays: { a: repeats(1_001) } });
    const { status, error } = await world.run(SKIPPED);
    expect({ status, code: error?.code }).toEqual({ status: "budget_exceeded", code: "BUDGET_EXCEEDED" });
    expect(world.calls.map(({ path }) => path)).toEqual(["a"]);
  });

  test("lets it go on from where it was, and nothing is paid twice", async () => {
    const world = worldWith({}, { plays: { a: turns(10) } });
    expect(await world.run(toGraph([agentTask("a")]))).toMatchObject({ status: "completed", costMicro: 1_000 });
  });

  test("asks before more is spent on it, and with a yes it ends", async () => {
    const world = worldWith({ onExceeded: "ask" }, { plays: { a: repeats(1_200), b: () => succeed("y") } });
    const { id, status } = await world.run(SKIPPED);
    expect(status).toBe("awaiting_approval");
    await world.host.request(id, {
      type: "answer",
      path: "a",
      answer: { answer: "approve", edited: { cost_usd: 0.002 } },
    });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
    expect(world.calls.map(({ path }) => path)).toEqual(["a", "a", "b"]);
  });

  test("of the run itself asks in the middle of a step, which then goes on", async () => {
    const world = new World({ plays: { a: turns(15), b: () => succeed("y") } });
    const { id, status } = await world.run(SKIPPED, {}, { maxCostMicro: 1_000, onExceeded: "ask" });
    expect(status).toBe("awaiting_approval");
    await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 1_500 });
  });

  test("is known to the next process too", async () => {
    const world = new World({ plays: { a: repeats(1_500), b: () => succeed("y") } });
    const { id } = await world.run(SKIPPED, {}, { maxCostMicro: 1_000, onExceeded: "ask" });
    const next = world.next();
    await next.host.request(id, {
      type: "answer",
      path: "a",
      answer: { answer: "approve", edited: { cost_usd: 0.002 } },
    });
    expect(await next.host.settled(id)).toMatchObject({ status: "completed", costMicro: 2_500 });
  });

  test("says what it has and what is needed", async () => {
    const world = new World({ plays: { a: spends(700), b: spends(400) } });
    const { error } = await world.run(SKIPPED, {}, { maxCostMicro: 1_000 });
    expect(error).toEqual({
      code: "BUDGET_EXCEEDED",
      message:
        "What the run may use is too little for another try: $0.0007 of $0.0010, and the next call may cost $0.0004.",
    });
  });
});

describe("what does not fit", () => {
  test("waits for calls under way, which may cost less than they might", async () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    const slow: Play = async (task) => {
      const settle = await send(task, 700);
      await promise;
      settle(250);
      return succeed("x", 250);
    };
    const world = new World({ plays: { a: slow, c: spends(400) } });
    const { id } = await world.start(toGraph([agentTask("a"), agentTask("c")]), {}, { maxCostMicro: 1_000 });
    await expect.poll(() => world.calls.length).toBe(2);
    expect(await world.typesOf(id)).not.toContain("stepSucceeded");
    end();
    expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 650 });
  });

  test("as many begin as can end", async () => {
    const world = new World({ plays: { a: turns(3) } });
    const { status, costMicro } = await world.run(itemsOf(50), {}, { maxCostMicro: 1_000 });
    expect({ status, costMicro }).toEqual({ status: "budget_exceeded", costMicro: 900 });
  });

  test("its time-out stands still meanwhile", async () => {
    const slow: Play = async (task) => {
      const settle = await send(task, 700);
      await new Promise<void>((resolve) => world.clock.wakeAt(world.clock.now() + 60_000, resolve));
      settle(100);
      return succeed("x", 100);
    };
    const world: World = new World({ plays: { a: slow, c: spends(400) } });
    const graph = toGraph([agentTask("a"), { ...agentTask("c"), timeoutMs: 1_000 }]);
    const { id } = await world.start(graph, {}, { maxCostMicro: 1_000 });
    await expect.poll(() => world.calls.length).toBe(2);
    await world.clock.advance(60_000);
    expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 500 });
  });

  test("a step that costs nothing is not held back by money", async () => {
    const world = new World({ plays: { a: spends(1_000) } });
    expect(await world.run(SKIPPED, {}, { maxCostMicro: 1_000 })).toMatchObject({ status: "completed" });
  });
});

test("what is reserved, and what a run waits for, can be seen", async () => {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const slow: Play = async (task) => {
    const settle = await send(task, 700);
    await promise;
    settle(100);
    return succeed("x", 100);
  };
  const world = worldWith({}, { plays: { a: slow, c: spends(400) } });
  const first = await world.start(toGraph([agentTask("a")]));
  await expect.poll(() => world.host.budgetView([]).holds.length).toBe(2);
  const second = await world.start(toGraph([agentTask("c")]));
  const held = { heldMicro: 700, runs: 1, waiting: 1 };
  await expect
    .poll(() => world.host.budgetView([first.id, second.id]))
    .toEqual({
      holds: [held, { ...held, budget: "shared" }],
      waits: [
        {
          run: second.id,
          budget: "The budget of all workflows",
          needsMicro: 400,
          heldMicro: 700,
          runs: 1,
          holders: [first.id],
        },
      ],
    });
  end();
  await Promise.all([first, second].map(({ id }) => world.host.settled(id)));
  expect(world.host.budgetView([first.id, second.id])).toEqual({ holds: [], waits: [] });
});

describe("money in doubt", () => {
  const HANGS: WorldOptions = {
    plays: {
      a: async (task) => {
        await send(task, 300);
        return new Promise<never>(() => undefined);
      },
    },
  };

  /** A run whose process dies so often, each time with a call in flight. */
  async function runWithDeaths(deaths: number, world: World, maxCostMicro: number) {
    const { id } = await world.start(toGraph([agentTask("a")]), {}, { maxCostMicro });
    let at = world;
    for (let death = 1; ; death += 1) {
      await expect
        .poll(async () => (await at.typesOf(id)).filter((type) => type === "costReserved").length)
        .toBe(death);
      at = world.next(death === deaths ? { plays: { a: spends(300) } } : {});
      await at.clock.advance(60_000);
      await at.host.recover();
      await at.clock.advance(60_000);
      if (death === deaths) return { id, at, record: await at.host.settled(id) };
    }
  }

  test("is one call's: a crash leaves no more than that", async () => {
    const { record } = await runWithDeaths(1, new World(HANGS), 600);
    expect(record).toMatchObject({ status: "completed", costMicro: 300, uncertainMicro: 300 });
  });

  test("alone ends no run: a person is asked", async () => {
    const { id, at, record } = await runWithDeaths(2, new World(HANGS), 800);
    expect(record).toMatchObject({ status: "awaiting_approval", costMicro: 0, uncertainMicro: 600 });
    expect(await at.eventsOf(id)).toContainEqual(
      expect.objectContaining({
        message:
          "What the run may use: $0.0000 of $0.0008 is spent, and up to $0.0006 more is in doubt, on calls that were cut off. Go on? It may then cost $0.0006 more than its limit.",
      }),
    );
    await at.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
    expect(await at.host.settled(id)).toMatchObject({ status: "completed", costMicro: 300 });
  });

  test("a no ends it", async () => {
    const { id, at } = await runWithDeaths(2, new World(HANGS), 800);
    await at.host.request(id, { type: "answer", path: "a", answer: { answer: "reject" } });
    expect(await at.host.settled(id)).toMatchObject({ status: "budget_exceeded" });
  });
});

test("those who watch are told how many tries wait for the budget, until none does", async () => {
  const ends: (() => void)[] = [];
  const play: Play = async (task) => {
    const settle = await send(task, 400);
    await new Promise<void>((resolve) => ends.push(resolve));
    settle(10);
    return succeed("x", 10);
  };
  const world = worldWith({}, { plays: { a: play } });
  const { id } = await world.start(itemsOf(4));
  const told: number[] = [];
  world.host.watch(id, (notice) => {
    if (notice.type === "live" && notice.event["type"] === "budget") told.push(Number(notice.event["waiting"]));
  });
  await expect.poll(() => ends.length).toBe(2);
  await world.clock.advance(200);
  expect(told).toEqual([2]);
  for (const end of ends.splice(0)) end();
  await expect.poll(() => ends.length).toBe(2);
  await world.clock.advance(1_100);
  expect(told).toEqual([2, 0]);
  for (const end of ends) end();
  expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
});
