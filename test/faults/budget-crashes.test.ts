import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import type { Budget, Budgets } from "../../src/ports/service/budgets.ts";
import { agentTask, toGraph } from "../fakes/direct-graph.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { journalWith, spends, World } from "./world.ts";

const GRAPH = toGraph([agentTask("a"), { ...agentTask("b"), after: ["a"] }, { ...agentTask("c"), after: ["b"] }]);
const RUNS = ["run-1", "run-2"];
const BUDGET: Budget = {
  id: "shared",
  per: "total",
  limits: { cost: 200, tokens: 10_000 },
  onExceeded: "ask",
  createdAt: 0,
  updatedAt: 0,
};

const pays = spends(100, { usage: { input_tokens: 3, output_tokens: 4 } });
const plays = { a: pays, b: pays, c: pays };

/** Dies instead of the record with this number, whichever of the two databases it is for; from then on nothing is written. */
class Life {
  readonly died = Promise.withResolvers<"died">();
  records = 0;
  readonly #diesAt: number;

  constructor(diesAt: number) {
    this.#diesAt = diesAt;
  }

  next(): boolean {
    this.records += 1;
    if (this.records >= this.#diesAt) this.died.resolve("died");
    return this.records < this.#diesAt;
  }

  /** What writes, and is dead after its time. */
  guard(budgets: Budgets): Budgets {
    const writes = new Set(["note", "close", "raise"]);
    return new Proxy(budgets, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (!writes.has(String(name))) return member.bind(target);
        return (...given: unknown[]) => (this.next() ? member.apply(target, given) : undefined);
      },
    });
  }
}

async function drive(world: World): Promise<"ended"> {
  await world.host.recover();
  for (const runId of RUNS) {
    const known = await world.journal.findRun(runId);
    if (known === undefined) await world.start(GRAPH, {}, { runId });
  }
  for (;;) {
    const records = await Promise.all(RUNS.map((id) => world.host.settled(id)));
    if (records.every(({ completedAt }) => completedAt !== undefined)) return "ended";
    for (const { id, status } of records) {
      if (status === "awaiting_approval") await answer(world, id);
    }
  }
}

async function answer(world: World, runId: string): Promise<void> {
  const asks = (await world.eventsOf(runId)).findLast(({ type }) => type === "approvalAsked");
  if (asks?.type === "approvalAsked")
    await world.host.request(runId, { type: "answer", path: asks.path, answer: { answer: "approve" } });
}

async function liveAndGoOn(diesAt: number) {
  const service = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => service.close());
  await service.budgets.put(BUDGET);
  const life = new Life(diesAt);
  const journal = new MemoryJournal();
  const mortal = journalWith(journal, (entries, append) => (life.next() ? append(entries) : new Promise(() => {})));
  const first = new World({ journal: mortal, plays, host: { openBudgets: async () => life.guard(service.budgets) } });
  const end = await Promise.race([drive(first), life.died.promise]);
  const next = new World({ journal, plays, host: { openBudgets: async () => service.budgets } });
  await drive(next);
  return { end, next, budgets: service.budgets, records: life.records };
}

test("what runs have used of a budget is what their journals say, and a yes raises it once, wherever the process dies", async () => {
  const undisturbed = await liveAndGoOn(Number.POSITIVE_INFINITY);
  expect(undisturbed.end).toBe("ended");
  expect(undisturbed.records).toBeGreaterThan(20);
  let died = 0;
  for (let diesAt = 1; diesAt <= undisturbed.records; diesAt += 1) {
    const { end, next, budgets } = await liveAndGoOn(diesAt);
    if (end === "died") died += 1;
    const events = (await Promise.all(RUNS.map((id) => next.eventsOf(id)))).flat();
    const records = await Promise.all(RUNS.map((id) => next.recordOf(id)));
    const { use, raised } = await budgets.sum(BUDGET.id, "");
    const paid = records.reduce((sum, { costMicro, uncertainMicro }) => sum + costMicro + (uncertainMicro ?? 0), 0);
    const succeeded = events.filter(({ type }) => type === "stepSucceeded").length;
    expect({ diesAt, statuses: records.map(({ status }) => status), open: await budgets.open() }).toEqual({
      diesAt,
      statuses: ["completed", "completed"],
      open: [],
    });
    expect({ diesAt, cost: use.cost, tokens: use.tokens }).toEqual({
      diesAt,
      cost: paid,
      tokens: succeeded * 7,
    });
    // Whoever says yes to what another yes has raised already raises nothing: no raise came before all was used.
    // What is in doubt is raised by the doubt.
    expect(Number(raised.cost) % 100).toBe(0);
    expect(raised.cost).toBeLessThanOrEqual(paid);
    expect(200 + Number(raised.cost)).toBeGreaterThanOrEqual(paid);
    expect(next.defects).toEqual([]);
  }
  // How many events share a commit is a matter of the moment: the last deaths may come too late.
  expect(died).toBeGreaterThanOrEqual(undisturbed.records - 5);
});
