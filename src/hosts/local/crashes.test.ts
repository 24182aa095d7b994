import { expect, test } from "vitest";
import { FakeClock } from "../../../test/fakes/fake-clock.ts";
import { die, hangs, hold, pass } from "../../../test/fakes/held-run.ts";
import { literal, task, toGraph } from "../../../test/faults/graphs.ts";
import { type Play, send, succeed, World } from "../../../test/faults/world.ts";
import type { Outcome, Task } from "../../ports/executor.ts";

const once = toGraph([task("a")]);

async function startHanging(): Promise<{ readonly world: World; readonly id: string }> {
  const world = new World({ plays: { a: hangs } });
  const { id } = await world.start(once);
  await pass(world, 0);
  return { world, id };
}

test("after two deaths of the process everything goes on at full width at once", async () => {
  const wide = toGraph([task("a", { each: { list: literal([...Array(30).keys()]), maxConcurrent: 30 } })]);
  let world = new World({ plays: { a: hangs } });
  await world.start(wide);
  await pass(world, 0);
  for (let death = 0; death < 2; death += 1) world = await die(world, { a: hangs });
  expect(world.calls).toHaveLength(30);
});

test("after three deaths the suspects come back after a pause, half of them first, and the others when those are through", async () => {
  const wide = toGraph([task("a", { each: { list: literal([...Array(30).keys()]), maxConcurrent: 30 } })]);
  let world = new World({ plays: { a: hangs } });
  const { id } = await world.start(wide);
  await pass(world, 0);
  for (let death = 0; death < 3; death += 1) world = await die(world, { a: hangs });
  expect(world.calls).toHaveLength(0);
  await pass(world, 999);
  expect(world.calls).toHaveLength(0);
  await pass(world, 1);
  expect(world.calls).toHaveLength(15);
  // Nobody ends: those that live for a minute are not what kills.
  await pass(world, 59_999);
  expect(world.calls).toHaveLength(15);
  await pass(world, 1);
  expect(world.calls).toHaveLength(23);
  const started = (await world.eventsOf(id)).filter(({ type }) => type === "stepStarted");
  expect(started.length).toBeGreaterThanOrEqual(23);
});

test("whoever is no suspect goes on at full width beside suspects", async () => {
  let { world } = await startHanging();
  for (let death = 0; death < 3; death += 1) world = await die(world, { a: hangs });
  const { status } = await world.run(toGraph([task("b", { each: { list: literal([1, 2, 3]), maxConcurrent: 3 } })]));
  expect(status).toBe("completed");
  expect(world.calls.map(({ path }) => path)).toEqual(["b[0]", "b[1]", "b[2]"]);
});

test("the pause before suspects come back grows with each death", async () => {
  let { world } = await startHanging();
  for (let death = 0; death < 3; death += 1) world = await die(world, { a: hangs });
  await pass(world, 1_000);
  expect(world.calls).toHaveLength(1);
  world = await die(world, { a: hangs });
  await pass(world, 1_999);
  expect(world.calls).toHaveLength(0);
  await pass(world, 1);
  expect(world.calls).toHaveLength(1);
});

test("the run of the step that was alone in flight when the process died twice is held", async () => {
  const { world, id } = await hold();
  expect(await world.host.settled(id)).toMatchObject({
    status: "waiting",
    parked: true,
    error: { code: "POISON", message: expect.stringContaining('"a" was in flight') },
  });
  expect((await world.eventsOf(id)).at(-1)).toMatchObject({ type: "stepInterrupted", counts: true });
  expect(await world.next().host.recover()).toEqual({ resumed: 0 });
  expect(world.defects).toEqual([]);
});

test("a held run goes on when it is resumed, with nothing against its step", async () => {
  const { world, id } = await hold();
  const next = world.next({ plays: { a: () => succeed("done") } });
  await next.host.request(id, { type: "resume" });
  await pass(next, 0);
  expect(await next.recordOf(id)).toMatchObject({ status: "waiting" });
  await next.host.request(id, { type: "resume", releases: true });
  expect(await next.host.settled(id)).toMatchObject({ status: "completed", error: undefined });
});

test("a held run can be cancelled", async () => {
  const { world, id } = await hold();
  await world.host.request(id, { type: "cancel" });
  expect(await world.host.settled(id)).toMatchObject({ status: "cancelled", error: { code: "RUN_CANCELLED" } });
});

test("a held step is told to webhooks and has a dead letter, once", async () => {
  const hook = "http://hook.example/failed";
  const { world } = await hold({ ending: { failureWebhook: hook } }, { callback_url: "http://client.example/" });
  const [webhooks, letters] = await Promise.all(
    ["webhook", "dead_letter"].map(async (kind) => world.journal.readOutbox({ kind, limit: 10 })),
  );
  const bodies = webhooks?.map(({ body }) => JSON.parse(body) as object);
  expect(bodies).toMatchObject([
    { event: "step.held", url: "http://client.example/", path: "a", code: "POISON" },
    { event: "step.held", url: hook, path: "a" },
  ]);
  expect(letters?.map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ path: "a", code: "POISON" }]);
});

test("work that happens elsewhere is never suspected", async () => {
  const world = (clock: FakeClock, previous?: World) => {
    const calls: Task[] = [];
    const run = (task: Task) => {
      calls.push(task);
      return new Promise<never>(() => undefined);
    };
    const host = { findExecutor: async () => ({ recordsInput: false, runsElsewhere: true, run }) as const };
    return { calls, world: previous?.next({ host }) ?? new World({ clock, host }) };
  };
  let { world: at, calls } = world(new FakeClock());
  await at.start(once);
  await pass(at, 0);
  for (let death = 0; death < 20; death += 1) {
    ({ world: at, calls } = world(at.clock, at));
    await at.host.recover();
    await pass(at, 0);
    expect(calls).toHaveLength(1);
  }
});

const DO_ONCE = toGraph([task("a", { atMostOnce: true })]);

test.each<[string, "begins", (task: Task) => Promise<unknown>] | [string, "fails", (task: Task) => Promise<unknown>]>([
  ["had sent nothing yet", "begins", async () => undefined],
  ["had been refused, and waited again", "begins", async (task) => (await send(task, 9))(0, "refused")],
  ["had sent a call", "fails", (task) => send(task, 9)],
  ["had an answer", "fails", async (task) => (await send(task, 9))(0)],
  ["went on from a record", "fails", (task) => task.record("turn-1", 1)],
])("a step that is done only once and %s when the process died %s", async (_why, then, before) => {
  const hostOf = (run: (task: Task) => Promise<Outcome>) => ({
    findExecutor: async () => ({ recordsInput: false, reservesCalls: true, run }) as const,
  });
  const hang = async (task: Task) => {
    await before(task);
    return new Promise<never>(() => undefined);
  };
  const world = new World({ host: hostOf(hang) });
  const { id } = await world.start(DO_ONCE);
  await pass(world, 0);
  const next = world.next({ host: hostOf(async () => succeed("done")) });
  await next.host.recover();
  const ended = { begins: { status: "completed" }, fails: { status: "failed", error: { code: "INTERRUPTED" } } }[then];
  expect(await next.host.settled(id)).toMatchObject(ended);
});

test("the culprit among many is found in 12 deaths at most, and nothing else is held", async () => {
  const list = [...Array(500).keys()];
  const graph = toGraph([
    task("a", { each: { list: literal(list), maxConcurrent: 500 }, input: { op: "path", root: "item", path: [] } }),
  ]);
  const deaths = await findCulprit(graph, 311);
  expect(deaths).toBeLessThanOrEqual(12);
  // The process dies a dozen times with 500 steps in flight.
});

/** Steps take five seconds; the culprit takes the process down after one. Returns how often it did. */
async function findCulprit(graph: ReturnType<typeof toGraph>, culprit: number): Promise<number> {
  const clock = new FakeClock();
  let isDead = false;
  const work: Play = ({ path, input }) =>
    new Promise((resolve) => {
      const isCulprit = path === `a[${culprit}]`;
      clock.wakeAt(clock.now() + (isCulprit ? 1_000 : 5_000), () => {
        if (isCulprit) isDead = true;
        else if (!isDead) resolve(succeed(input));
      });
    });
  let world = new World({ clock, plays: { a: work } });
  const { id } = await world.start(graph);
  for (let deaths = 0; deaths < 50; deaths += 1) {
    for (let second = 0; second < 3_600 && !isDead; second += 1) {
      await clock.advance(1_000);
      const { status } = await world.recordOf(id);
      if (status !== "running") {
        const outcomes = (await world.eventsOf(id)).filter(({ type }) => type === "stepSucceeded");
        expect({ status, done: outcomes.length }).toEqual({ status: "waiting", done: 499 });
        return deaths;
      }
    }
    isDead = false;
    world.clock.jump(500);
    world = world.next({ plays: { a: work } });
    await world.host.recover();
  }
  throw new Error("The culprit is not found.");
}

test("many steps that all take the process down are held one after another, and the process is spared the others", async () => {
  const clock = new FakeClock();
  let isDead = false;
  const plays: Record<string, Play> = {
    a: () => new Promise(() => clock.wakeAt(clock.now() + 1_000, () => (isDead = true))),
  };
  let world = new World({ clock, plays });
  const { id } = await world.start(
    toGraph([task("a", { each: { list: literal([...Array(16).keys()]), maxConcurrent: 16 } })]),
  );
  let deaths = 0;
  for (; deaths < 200 && (await world.recordOf(id)).status !== "waiting"; deaths += 1) {
    for (let second = 0; second < 120 && !isDead; second += 1) await clock.advance(1_000);
    isDead = false;
    world = world.next({ plays });
    await world.host.recover();
    await clock.advance(0);
  }
  expect(await world.recordOf(id)).toMatchObject({ status: "waiting", error: { code: "POISON" } });
  expect(deaths).toBeLessThan(100);
});
