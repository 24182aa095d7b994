import { describe, expect, onTestFinished, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { fail, type Play, succeed, World, type WorldOptions } from "../../../../test/faults/world.ts";
import { openServiceRecords } from "../../../app/open-service-records.ts";
import type { Budget } from "../../../ports/service/budgets.ts";

const SKIPPED = toGraph([
  { ...agentTask("a"), onFailure: "skip" },
  { ...agentTask("b"), after: ["a"] },
]);

/** Needs so much, turn by turn: what it has done is on record, and paid once. */
const needs =
  (costMicro: number): Play =>
  async (task) => {
    const paid = Number((await task.recorded("paid")) ?? 0);
    const spends = Math.min(costMicro - paid, task.maxCostMicro ?? costMicro);
    await task.record("paid", paid + spends);
    if (paid + spends === costMicro) return succeed("x", spends);
    return fail("STEP_BUDGET_EXCEEDED", { costMicro: spends, outspent: { goesOn: true } });
  };

/** Begins from its start each time. */
const repeats =
  (costMicro: number): Play =>
  ({ maxCostMicro = costMicro }) =>
    maxCostMicro >= costMicro
      ? succeed("x", costMicro)
      : fail("AGENT_ERROR_RESULT", { costMicro: maxCostMicro, outspent: { goesOn: false }, effect: "done" });

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
    expect(world.calls.map(({ path, maxCostMicro }) => [path, maxCostMicro])).toEqual([["a", 1_000]]);
  });

  test("gives it all that is left once a part of it was too little beside others", async () => {
    const world = worldWith({}, { plays: { a: repeats(700), c: () => succeed("y") } });
    expect(await world.run(toGraph([agentTask("a"), agentTask("c")]))).toMatchObject({
      status: "completed",
      costMicro: 950,
    });
    expect(world.calls.map(({ path, maxCostMicro }) => [path, maxCostMicro])).toEqual([
      ["a", 250],
      ["c", 250],
      ["a", 750],
    ]);
  });

  test("lets it go on from where it was, and nothing is paid twice", async () => {
    const world = worldWith({}, { plays: { a: needs(1_000) } });
    expect(await world.run(toGraph([agentTask("a")]))).toMatchObject({ status: "completed", costMicro: 1_000 });
  });

  test("asks before more is spent on it, and with a yes it ends", async () => {
    const world = worldWith({ onExceeded: "ask" }, { plays: { a: repeats(1_200), b: () => succeed("y") } });
    const { id, status } = await world.run(SKIPPED);
    expect(status).toBe("awaiting_approval");
    await world.host.answerApproval(id, "a", { answer: "approve", edited: { cost_usd: 0.002 } });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
    expect(world.calls.map(({ path }) => path)).toEqual(["a", "a", "b"]);
  });

  test("of the run itself asks after all of it was not enough for a step that runs alone", async () => {
    const world = new World({ plays: { a: needs(1_500), b: () => succeed("y") } });
    const { id, status } = await world.run(SKIPPED, {}, { maxCostMicro: 1_000, onExceeded: "ask" });
    expect(status).toBe("awaiting_approval");
    expect(world.calls.map(({ maxCostMicro }) => maxCostMicro)).toEqual([1_000]);
    await world.host.answerApproval(id, "a", { answer: "approve" });
    expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 1_500 });
  });

  test("is known to the next process too", async () => {
    const world = new World({ plays: { a: repeats(1_500), b: () => succeed("y") } });
    const { id } = await world.run(SKIPPED, {}, { maxCostMicro: 1_000, onExceeded: "ask" });
    const next = world.next();
    await next.host.answerApproval(id, "a", { answer: "approve", edited: { cost_usd: 0.002 } });
    expect(await next.host.settled(id)).toMatchObject({ status: "completed" });
    expect(next.calls.map(({ path, maxCostMicro }) => [path, maxCostMicro])).toEqual([
      ["a", 2_000],
      ["b", 500],
    ]);
  });
});

test("those who watch are told how many tries wait for the budget, until none does", async () => {
  const graph = toGraph([
    { ...agentTask("a"), each: { list: { op: "literal", value: [1, 2, 3, 4] }, maxConcurrent: 4 } },
  ]);
  const ends: (() => void)[] = [];
  const play: Play = () => new Promise((resolve) => ends.push(() => resolve(succeed("x", 10))));
  const world = worldWith({}, { plays: { a: play } });
  const { id } = await world.start(graph);
  const told: number[] = [];
  world.host.watch(id, (notice) => {
    if (notice.type === "live" && notice.event["type"] === "budget") told.push(Number(notice.event["waiting"]));
  });
  // What the step costs is not known before the first has ended.
  await expect.poll(() => ends.length).toBe(1);
  await world.clock.advance(200);
  expect(told).toEqual([3]);
  for (const end of ends.splice(0)) end();
  await expect.poll(() => ends.length).toBe(3);
  await world.clock.advance(1_100);
  expect(told).toEqual([3, 0]);
  for (const end of ends) end();
  expect(await world.host.settled(id)).toMatchObject({ status: "completed" });
});
