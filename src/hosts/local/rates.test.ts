import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { toGraph } from "../../../test/fakes/direct-graph.ts";
import { FakeClock } from "../../../test/fakes/fake-clock.ts";
import { input } from "../../../test/fakes/uhlp-graph.ts";
import { succeed, World } from "../../../test/faults/world.ts";
import { openServiceRecords } from "../../app/open-service-records.ts";
import type { Graph, Rate } from "../../core/graph/graph.ts";

const PER = 60_000;

function rated(more: Partial<Rate> = {}, graph: Partial<Graph> = {}): Graph {
  const steps = [{ id: "work", kind: "task", executor: "code", input: input("n") } as const];
  const rate = { key: input("customer"), limit: 2, perMs: PER, whenFull: "queue" } as const;
  return { ...toGraph(steps), name: "rated", rate: { ...rate, ...more }, ...graph };
}

function world() {
  const records = openServiceRecords({ path: `${temporaryFolder()}/service.db`, durability: "process" });
  onTestFinished(() => records.close());
  const clock = new FakeClock(1_000_000);
  const made = new World({ clock, host: { rates: async () => records.rates } });
  const begun = () => made.calls.map(({ input: n }) => n);
  return { made, clock, begun };
}

test("of one key so many begin within the time, in the order of their start, and other keys are not held up", async () => {
  const { made, clock, begun } = world();
  for (const n of [1, 2, 3, 4, 5]) await made.start(rated(), { n, customer: "a" });
  await made.start(rated(), { n: 9, customer: "b" });
  await clock.advance(0);
  expect(begun()).toEqual([1, 2, 9]);
  expect(await made.journal.countRuns({ status: ["queued"] })).toBe(3);
  await clock.advance(PER - 1);
  expect(begun()).toHaveLength(3);
  await clock.advance(1);
  expect(begun()).toEqual([1, 2, 9, 3, 4]);
  await clock.advance(PER);
  expect(begun()).toEqual([1, 2, 9, 3, 4, 5]);
  expect(made.defects).toEqual([]);
});

test("after a time without a process those in line keep their order and their distance", async () => {
  const { made, clock, begun } = world();
  for (const n of [1, 2, 3, 4, 5, 6, 7]) await made.start(rated(), { n, customer: "a" });
  await clock.advance(0);
  await made.host.park(AbortSignal.abort());
  clock.jump(10 * PER + 500);

  const next = made.next();
  await next.host.recover();
  await clock.advance(0);
  const later = await next.start(rated(), { n: 8, customer: "a" });
  const all = () => [...begun(), ...next.calls.map(({ input: n }) => n)];
  expect(all()).toEqual([1, 2, 3, 4]);
  await clock.advance(PER - 1);
  expect(all()).toHaveLength(4);
  await clock.advance(1);
  expect(all()).toEqual([1, 2, 3, 4, 5, 6]);
  await clock.advance(PER);
  expect(all()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect((await next.host.settled(later.id)).status).toBe("completed");
  expect([...made.defects, ...next.defects]).toEqual([]);
});

test("with `skip` a run that would have to wait is refused, and leaves no trace", async () => {
  const { made, clock } = world();
  const skips = rated({ limit: 1, whenFull: "skip" });
  await made.run(skips, { n: 1, customer: "a" });
  const second = made.start(skips, { n: 2, customer: "a" });
  await expect(second).rejects.toMatchObject({ code: "PLACES_TAKEN" });
  await clock.advance(PER);
  expect((await made.run(skips, { n: 3, customer: "a" })).status).toBe("completed");
  expect(await made.journal.countRuns({})).toBe(2);
});

test("a run that waits can be cancelled; workflows share a scope, tenants share nothing; a key that is missing is refused", async () => {
  const { made, clock, begun } = world();
  const one = rated({ limit: 1, scope: "s" });
  const other = rated({ limit: 1, scope: "s" }, { name: "other" });
  await made.start(one, { n: 1, customer: "a" });
  const second = await made.start(other, { n: 2, customer: "a" });
  await made.start(other, { n: 3, customer: "a" }, { tenantId: "t" });
  await clock.advance(0);
  expect(begun()).toEqual([1, 3]);
  await made.host.request(second.id, { type: "cancel" });
  expect((await made.host.settled(second.id)).status).toBe("cancelled");
  await expect(made.start(one, { n: 4 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await clock.advance(PER);
  expect(begun()).toEqual([1, 3]);
});

test("a run with `concurrency` as well begins when it has a place, and then not sooner than its rate allows", async () => {
  const { made, clock, begun } = world();
  const both = rated({ limit: 1 }, { concurrency: { limit: 1, whenFull: "queue" } });
  for (const n of [1, 2, 3]) await made.start(both, { n, customer: "a" });
  await clock.advance(0);
  expect(begun()).toEqual([1]);
  await clock.advance(PER);
  expect(begun()).toEqual([1, 2]);
  await clock.advance(PER);
  expect(begun()).toEqual([1, 2, 3]);
  expect(made.defects).toEqual([]);
});

function debounced(more: Partial<Graph> = {}): Graph {
  const { rate: _, ...graph } = rated({}, more);
  const concurrency = { key: input("customer"), limit: 1, whenFull: "cancelOlder", waitMs: PER } as const;
  return { ...graph, concurrency };
}

test("of runs that are started one after another only the newest begins, so long after its start, and other keys are their own", async () => {
  const { made, clock, begun } = world();
  const runs: string[] = [];
  for (const n of [1, 2, 3]) {
    runs.push((await made.start(debounced(), { n, customer: "a" })).id);
    await clock.advance(PER / 2);
  }
  await made.start(debounced(), { n: 9, customer: "b" });
  expect(begun()).toEqual([]);
  await clock.advance(PER / 2);
  expect(begun()).toEqual([3]);
  await clock.advance(PER);
  expect(begun()).toEqual([3, 9]);
  const ended = await Promise.all(runs.map((id) => made.host.settled(id)));
  expect(ended.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "completed"]);
  expect(made.defects).toEqual([]);
});

test("a run that has begun is left alone by newer ones, and another process goes on with what waits", async () => {
  const open = Promise.withResolvers<void>();
  const { clock, made: first } = world();
  const wait = new World({
    clock,
    journal: first.journal,
    plays: {
      work: async ({ input: n }) => {
        if (n === 1) await open.promise;
        return succeed(n);
      },
    },
  });
  const one = await wait.start(debounced(), { n: 1, customer: "a" });
  await clock.advance(PER);
  expect(wait.calls).toHaveLength(1);
  const two = await wait.start(debounced(), { n: 2, customer: "a" });
  await clock.advance(PER);
  expect(wait.calls).toHaveLength(2);
  open.resolve();
  expect((await wait.host.settled(one.id)).status).toBe("completed");
  expect((await wait.host.settled(two.id)).status).toBe("completed");

  const three = await wait.start(debounced(), { n: 3, customer: "a" });
  await clock.advance(0);
  await wait.host.park(AbortSignal.abort());
  clock.jump(10 * PER);
  const next = wait.next();
  await next.host.recover();
  await clock.advance(0);
  expect((await next.host.settled(three.id)).status).toBe("completed");
  expect(next.calls.map(({ input: n }) => n)).toEqual([3]);
  expect([...wait.defects, ...next.defects]).toEqual([]);
});
