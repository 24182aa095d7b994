import { expect, test } from "vitest";
import type { WaitStep } from "../../../src/core/graph/graph.ts";
import { literal, path, task, toGraph } from "../graphs.ts";
import { succeed } from "../world.ts";
import { RaceWorld } from "./race-world.ts";

function waitFor(id: string, name: string, more: Partial<WaitStep> = {}): WaitStep {
  return { kind: "wait", id, wait: { for: "event", name: literal(name) }, ...more };
}

const TWICE = toGraph(
  [
    task("first"),
    waitFor("one", "paid", { after: ["first"] }),
    task("between", { after: ["one"] }),
    waitFor("two", "paid", { after: ["between"] }),
    task("last", { after: ["two"], input: { op: "list", items: [path("steps.one"), path("steps.two")] } }),
  ],
  { name: "twice" },
);

test("an event that comes before anybody waits for it is kept, each for one wait, in their order", async () => {
  const begun = Promise.withResolvers<void>();
  const world = new RaceWorld([TWICE], { plays: { first: () => begun.promise.then(() => succeed(null)) } });
  const runId = await world.start("twice");
  await expect.poll(() => world.done).toEqual(["first"]);
  for (const n of [1, 2, 3]) expect((await world.signal(runId, "paid", { n })).status).toBe(202);
  begun.resolve();
  await world.untilEnded(runId);
  expect(await world.http.world.outputOf(runId, "last")).toEqual([{ n: 1 }, { n: 2 }]);
});

test("of two events at the same moment the wait reads one, and the next wait the other", async () => {
  const world = new RaceWorld([TWICE]);
  const runId = await world.start("twice");
  await expect.poll(async () => (await world.run(runId)).status).toBe("waiting");
  const replies = await Promise.all([1, 2].map((n) => world.signal(runId, "paid", n)));
  expect(replies.map(({ status }) => status)).toEqual([202, 202]);
  await world.untilEnded(runId);
  const read = (await world.http.world.outputOf(runId, "last")) as number[];
  expect(read.toSorted()).toEqual([1, 2]);
  expect(world.done).toEqual(["first", "between", "last"]);
});

test("two steps that wait for the same event are told by two events, not both by one", async () => {
  const pair = toGraph([waitFor("a", "paid"), waitFor("b", "paid"), task("last", { after: ["a", "b"] })], {
    name: "pair",
  });
  const world = new RaceWorld([pair]);
  const runId = await world.start("pair");
  await expect.poll(async () => (await world.run(runId)).status).toBe("waiting");
  await world.signal(runId, "paid", 1);
  expect((await world.run(runId)).steps.map(({ status }) => status).sort()).toEqual([
    "completed",
    "pending",
    "waiting",
  ]);
  expect(world.done).toEqual([]);
  await world.signal(runId, "paid", 2);
  const { outputs } = await world.untilEnded(runId);
  expect(outputs).toMatchObject({ a: 1, b: 2 });
});

test("an event in the moment in which the wait is over is read by it or kept, and the run ends once", async () => {
  const timed = toGraph([waitFor("a", "paid", { wait: { for: "event", name: literal("paid"), timeoutMs: 60_000 } })], {
    name: "timed",
  });
  for (let round = 0; round < 10; round += 1) {
    const world = new RaceWorld([timed]);
    const runId = await world.start("timed");
    await expect.poll(async () => (await world.run(runId)).status).toBe("waiting");
    const moves = [() => world.http.world.clock.advance(60_000), () => world.signal(runId, "paid", "in time")];
    if (round % 2 === 1) moves.reverse();
    await Promise.all(moves.map((move) => move()));
    const run = await world.untilEnded(runId);
    const types = await world.http.world.typesOf(runId);
    expect(types.filter((type) => type === "runFinished")).toHaveLength(1);
    const isFirst =
      types.indexOf("signalReceived") !== -1 && types.indexOf("signalReceived") < types.indexOf("timerFired");
    const isAlone = types.includes("signalReceived") && !types.includes("timerFired");
    expect(run.status).toBe(isFirst || isAlone ? "completed" : "failed");
  }
});

test("an event for a run that has ended is refused, and one for no run is not kept", async () => {
  const world = new RaceWorld([TWICE]);
  const runId = await world.start("twice");
  await world.post(`/runs/${runId}/cancel`, {});
  await world.untilEnded(runId);
  expect(await world.signal(runId, "paid", 1)).toMatchObject({ status: 409, code: "RUN_FINISHED" });
  expect(await world.signal("0189", "paid", 1)).toMatchObject({ status: 404, code: "RUN_NOT_FOUND" });
});
