import { expect, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import type { RunRecord } from "../../src/ports/journal.ts";
import { rounds } from "../properties/rounds.ts";
import { hashText, Random } from "../simulation/random.ts";
import { type AgentPlan, Bill, type BillingOptions, billingModel } from "./billing/billing-model.ts";
import { agentsGraph, createAgent, endRuns, Lives } from "./billing/billing-world.ts";

interface Schedule {
  readonly seed: number;
  readonly messages: readonly string[];
  readonly maxConcurrent: number;
  readonly runs: number;
  readonly limitMicro: number;
  readonly isShared: boolean;
  /** After how many commits each process dies. */
  readonly deaths: readonly number[];
  readonly breaks: number;
}

function drawSchedule(seed: number): Schedule {
  const random = new Random(seed);
  const agents = random.int(1, 50);
  const isShared = random.chance(0.5);
  return {
    seed,
    messages: Array.from(
      { length: agents },
      (_, n) => `${n} ${"word ".repeat(random.chance(0.05) ? 80_000 : random.int(1, 400))}`,
    ),
    maxConcurrent: random.pick([1, 5, 50]),
    runs: isShared ? random.int(1, 5) : 1,
    limitMicro: random.pick([20_000, 100_000, 1_000_000, 5_000_000]),
    isShared,
    deaths: random.chance(0.6) ? Array.from({ length: random.int(1, 6) }, () => random.int(1, 40)) : [],
    breaks: random.pick([0, 0.05, 0.2]),
  };
}

function planOf(prompt: string): AgentPlan {
  const random = new Random(hashText(prompt.slice(0, 120)));
  return { turns: random.int(1, 6), outputTokens: random.int(20, 3_000), bytesPerToken: random.pick([1, 2, 4, 5]) };
}

async function play(schedule: Schedule, more: Partial<BillingOptions> = {}) {
  const { seed, messages, maxConcurrent, runs, limitMicro, isShared, deaths, breaks } = schedule;
  const service = isShared ? openServiceRecords({ path: ":memory:", durability: "process" }) : undefined;
  await service?.budgets.put({
    id: "all",
    per: "total",
    limits: { cost: limitMicro },
    onExceeded: "stop",
    createdAt: 0,
    updatedAt: 0,
  });
  const bill = new Bill();
  const random = new Random(seed + 1);
  const lives = new Lives(createAgent(billingModel({ bill, random, planOf, breaks, ...more })), service?.budgets);
  const graph = agentsGraph(messages, maxConcurrent);
  const ids = Array.from({ length: runs }, (_, n) => `run-${n}`);
  for (const commits of [...deaths, Number.POSITIVE_INFINITY]) {
    const { world, died } = lives.begin(commits);
    const ended = (async () => {
      await world.host.recover();
      for (const runId of ids)
        if ((await lives.journal.findRun(runId)) === undefined)
          await world.start(graph, {}, { runId, ...(isShared ? {} : { maxCostMicro: limitMicro }) });
      await endRuns(world, ids);
      return "ended" as const;
    })();
    if ((await Promise.race([ended, died])) === "ended") break;
  }
  await service?.close();
  const records = await Promise.all(ids.map(async (id) => (await lives.journal.findRun(id)) as RunRecord));
  const atMostMicro = records.reduce(
    (sum, { costMicro, uncertainMicro }) => sum + costMicro + (uncertainMicro ?? Number.NaN),
    0,
  );
  return { bill, records, atMostMicro, lives };
}

// 60 schedules take about six seconds; `PAWL_TEST_ROUNDS=17` plays a thousand.
test("no schedule of agents, deaths and broken answers is billed more than its budget, or more than the books say at most", async () => {
  let exceeded = 0;
  let completed = 0;
  for (let seed = 1; seed <= rounds(60); seed += 1) {
    const schedule = drawSchedule(seed);
    const { bill, records, atMostMicro } = await play(schedule);
    const { messages: _, ...shown } = schedule;
    const facts = { ...shown, billed: bill.billedMicro, atMostMicro, statuses: records.map(({ status }) => status) };
    expect(
      records.every(({ completedAt }) => completedAt !== undefined),
      JSON.stringify(facts),
    ).toBe(true);
    expect(bill.billedMicro, JSON.stringify(facts)).toBeLessThanOrEqual(schedule.limitMicro);
    expect(atMostMicro, JSON.stringify(facts)).toBeGreaterThanOrEqual(bill.billedMicro);
    expect(atMostMicro, JSON.stringify(facts)).toBeLessThanOrEqual(schedule.limitMicro);
    const stopped = records.filter(({ status }) => status === "budget_exceeded").length;
    exceeded += stopped;
    completed += records.length - stopped;
  }
  expect(exceeded).toBeGreaterThan(5);
  expect(completed).toBeGreaterThan(5);
}, 3_600_000);

test.each([true, false])("with a dollar, three agents of 30 cents end (shared budget: %s)", async (isShared) => {
  const messages = Array.from({ length: 50 }, (_, n) => `agent ${n}`);
  const schedule: Schedule = {
    seed: 1,
    messages,
    maxConcurrent: 50,
    runs: 1,
    limitMicro: 1_000_000,
    isShared,
    deaths: [],
    breaks: 0,
  };
  // Six turns of 5 cents: about 3,300 tokens each.
  const { records, bill, lives } = await play(schedule, {
    planOf: () => ({ turns: 6, outputTokens: 3_200, bytesPerToken: 4 }),
  });
  const run = records[0] as RunRecord;
  const events = await lives.journal.readEvents(run.no, { afterSeq: 0, limit: 10_000 });
  expect(run.status).toBe("budget_exceeded");
  expect(events.filter(({ event }) => event.type === "stepSucceeded")).toHaveLength(3);
  expect(bill.billedMicro).toBeLessThanOrEqual(1_000_000);
});

test("a provider whose numbers cannot be true is named, and budgets count its calls as if each had cost the most", async () => {
  const messages = Array.from({ length: 20 }, (_, n) => `agent ${n} ${"word ".repeat(4_000)}`);
  const schedule: Schedule = {
    seed: 1,
    messages,
    maxConcurrent: 20,
    runs: 1,
    limitMicro: 1_000_000,
    isShared: false,
    deaths: [],
    breaks: 0,
  };
  const { records, bill, atMostMicro, lives } = await play(schedule, { tells: 0.001 });
  const { no } = records[0] as RunRecord;
  const rows = await lives.journal.readEvents(no, { afterSeq: 0, limit: 10_000 });
  const logs = await Promise.all(
    rows.filter(({ event }) => event.type === "stepLogged").map(({ seq }) => lives.journal.readValue(no, seq)),
  );
  expect(logs.join()).toContain("test:billing has counted");
  expect(bill.billedMicro).toBeLessThanOrEqual(1_000_000);
  expect(atMostMicro).toBeGreaterThanOrEqual(bill.billedMicro);
});
