import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { RunRecord } from "../../src/ports/journal.ts";
import type { Budgets } from "../../src/ports/service/budgets.ts";
import { SEVERAL_PROCESSES } from "../contracts/records/records-under-test.ts";
import { rounds } from "../properties/rounds.ts";
import { hashText, Random } from "../simulation/random.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { Bill, billingModel } from "./billing/billing-model.ts";
import { agentsGraph, createAgent, endRuns, Lives } from "./billing/billing-world.ts";

const RUNS_OF_EACH = 2;

/** Drives runs of its own to their ends, and dies on the way. */
async function driveRuns(lives: Lives, seed: number): Promise<readonly RunRecord[]> {
  const random = new Random(seed);
  const messages = Array.from(
    { length: random.int(1, 8) },
    (_, n) => `${seed} ${n} ${"word ".repeat(random.int(1, 200))}`,
  );
  const graph = agentsGraph(messages, random.pick([1, 5, 50]));
  const ids = Array.from({ length: RUNS_OF_EACH }, (_, n) => `run-${seed}-${n}`);
  const deaths = random.chance(0.6) ? Array.from({ length: random.int(1, 3) }, () => random.int(1, 30)) : [];
  for (const commits of [...deaths, Number.POSITIVE_INFINITY]) {
    const { world, died } = lives.begin(commits);
    const ended = (async () => {
      await world.host.recover();
      for (const runId of ids)
        if ((await lives.journal.findRun(runId)) === undefined) await world.start(graph, {}, { runId });
      await endRuns(world, ids);
      await world.host.park(AbortSignal.abort());
      return "ended" as const;
    })();
    if ((await Promise.race([ended, died])) === "ended") break;
  }
  return Promise.all(ids.map(async (id) => (await lives.journal.findRun(id)) as RunRecord));
}

async function play(seed: number, processes: readonly Budgets[], limitMicro: number) {
  const limits = { cost: limitMicro };
  await processes[0]?.put({ id: "all", per: "total", limits, onExceeded: "stop", createdAt: 0, updatedAt: 0 });
  const bill = new Bill();
  const random = new Random(seed);
  const planOf = (prompt: string) => {
    const drawn = new Random(hashText(prompt.slice(0, 120)));
    return { turns: drawn.int(1, 6), outputTokens: drawn.int(20, 3_000), bytesPerToken: drawn.pick([1, 2, 4]) };
  };
  const workers = new Set<string>();
  const journal = new MemoryJournal();
  const all = processes.map((budgets, n) => {
    const model = billingModel({ bill, random: new Random(seed + n), planOf, breaks: random.pick([0, 0.1]) });
    const isOwn = (id: string) => id.startsWith(`run-${seed * 10 + n}-`);
    return new Lives(createAgent(model), budgets, { name: `process ${n}`, workers, journal, isOwn });
  });
  let isOver = false;
  const time = (async () => {
    while (!isOver) {
      await Promise.all(all.map(({ clock }) => clock.advance(50)));
      // Databases need time of their own.
      await setTimeout(2);
    }
  })();
  const driven = Promise.all(all.map((lives, n) => driveRuns(lives, seed * 10 + n)));
  const records = (
    await driven.finally(() => {
      isOver = true;
    })
  ).flat();
  await time;
  const sum = await processes[0]?.sum("all", "");
  return { bill, records, noted: sum?.use.cost ?? 0 };
}

const SEEDS = Array.from({ length: rounds(1) }, (_, n) => n + 1);
const CASES = [1, 2, 4].flatMap((count) => SEEDS.map((seed) => [count, seed] as const));

for (const { name, open } of SEVERAL_PROCESSES) {
  test.each(CASES)(
    `on ${name} a budget is never exceeded by %i processes that die, and all work ends (seed %i)`,
    async (count, seed) => {
      const processes = (await open(count)).map(({ budgets }) => budgets);
      const limitMicro = new Random(seed).pick([50_000, 200_000, 1_000_000, 5_000_000]);
      const { bill, records, noted } = await play(seed, processes, limitMicro);
      const ends = records.map(({ status }) => status);
      const facts = JSON.stringify({ limitMicro, billed: bill.billedMicro, noted, ends });
      expect(
        records.every(({ completedAt }) => completedAt !== undefined),
        facts,
      ).toBe(true);
      expect(noted, facts).toBeLessThanOrEqual(limitMicro);
      expect(noted, facts).toBeGreaterThanOrEqual(bill.billedMicro);
    },
  );
}
