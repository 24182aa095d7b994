import { expect, test } from "vitest";
import { toGraph } from "../../../test/fakes/direct-graph.ts";
import { input } from "../../../test/fakes/uhlp-graph.ts";
import { fail, succeed, World } from "../../../test/faults/world.ts";
import type { Concurrency, Graph } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";

const BY_CUSTOMER: Concurrency = { key: input("customer"), limit: 1, whenFull: "queue" };

function limited(more: Partial<Concurrency> = {}, graph: Partial<Graph> = {}): Graph {
  const steps = [{ id: "work", kind: "task", executor: "code", input: input("n") } as const];
  return { ...toGraph(steps), name: "limited", concurrency: { ...BY_CUSTOMER, ...more }, ...graph };
}

/** A world whose step waits until the test lets it go on. */
function gated() {
  const open = new Map<Json, () => void>();
  const begun: Json[] = [];
  const world = new World({
    plays: {
      work: async (task, signal) => {
        begun.push(task.input);
        await new Promise<void>((resolve) => {
          open.set(task.input, resolve);
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
        return succeed(task.input);
      },
    },
  });
  const statusOf = async (id: string) => (await world.journal.findRun(id)) as { status: string; parked: boolean };
  return { world, begun, statusOf, let: (n: Json) => open.get(n)?.() };
}

const until = (what: () => unknown) => expect.poll(what).toBe(true);

test("of one key one run goes on at a time, in the order of their start, and other keys are not held up", async () => {
  const { world, begun, statusOf, let: go } = gated();
  const graph = limited();
  const ids: string[] = [];
  for (const [n, customer] of [
    [1, "a"],
    [2, "a"],
    [3, "a"],
    [4, "b"],
  ] as const)
    ids.push((await world.start(graph, { n, customer })).id);
  await until(() => begun.length === 2);
  expect(begun.toSorted()).toEqual([1, 4]);
  expect(await statusOf(ids[1] ?? "")).toMatchObject({ status: "queued", parked: true });
  expect(world.host.driving).toBe(2);
  go(1);
  await until(() => begun.length === 3);
  expect(begun[2]).toBe(2);
  go(2);
  await until(() => begun.length === 4);
  go(3);
  go(4);
  for (const id of ids) expect((await world.host.settled(id)).status).toBe("completed");
  expect(world.defects).toEqual([]);
});

test("a run in line can be cancelled, and has done nothing", async () => {
  const { world, begun, let: go } = gated();
  const graph = limited();
  await world.start(graph, { n: 1, customer: "a" });
  const second = await world.start(graph, { n: 2, customer: "a" });
  const third = await world.start(graph, { n: 3, customer: "a" });
  await until(() => begun.length === 1);
  await world.host.request(second.id, { type: "cancel" });
  expect((await world.host.settled(second.id)).status).toBe("cancelled");
  go(1);
  await until(() => begun.length === 2);
  expect(begun).toEqual([1, 3]);
  go(3);
  expect((await world.host.settled(third.id)).status).toBe("completed");
});

test("with `cancelOlder` the newest run goes on, and those before it are cancelled", async () => {
  const { world, begun, let: go } = gated();
  const graph = limited({ whenFull: "cancelOlder" });
  const runs: RunRecord[] = [];
  for (const n of [1, 2, 3]) runs.push(await world.start(graph, { n, customer: "a" }));
  await until(() => begun.includes(3));
  go(3);
  const ended = await Promise.all(runs.map(({ id }) => world.host.settled(id)));
  expect(ended.map(({ status }) => status)).toEqual(["cancelled", "cancelled", "completed"]);
});

test("with `skip` a run that would have to wait is refused, and leaves no trace", async () => {
  const { world, begun, let: go } = gated();
  const graph = limited({ whenFull: "skip" });
  const first = await world.start(graph, { n: 1, customer: "a" });
  await until(() => begun.length === 1);
  await expect(world.start(graph, { n: 2, customer: "a" })).rejects.toMatchObject({ code: "PLACES_TAKEN" });
  await world.start(graph, { n: 3, customer: "b" });
  go(1);
  await world.host.settled(first.id);
  expect((await world.start(graph, { n: 4, customer: "a" })).status).toBe("queued");
  expect(await world.journal.countRuns({})).toBe(3);
  expect(world.defects).toEqual([]);
});

test("workflows share the places of a scope, tenants do not, and a key that is missing is refused", async () => {
  const { world, begun, let: go } = gated();
  const one = limited({ scope: "app" });
  const other = limited({ scope: "app" }, { name: "other" });
  await world.start(one, { n: 1, customer: "a" });
  await world.start(other, { n: 2, customer: "a" });
  await world.start(other, { n: 3, customer: "a" }, { tenantId: "t" });
  await until(() => begun.length === 2);
  expect(begun.toSorted()).toEqual([1, 3]);
  go(1);
  await until(() => begun.length === 3);
  await expect(world.start(one, { n: 4 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test("a run that fails, and one that a person holds, gives its place to the next; resumed, it waits for a place again", async () => {
  const begun: Json[] = [];
  const open = Promise.withResolvers<void>();
  const world = new World({
    plays: {
      work: async ({ input: n }, signal) => {
        begun.push(n);
        if (n === 1) return fail("BROKEN");
        if (n === 2 && begun.length === 2) {
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          return fail("CANCELLED", { effect: "none" });
        }
        if (n === 3) await open.promise;
        return succeed(n);
      },
    },
  });
  const graph = limited();
  await world.run(graph, { n: 1, customer: "a" });
  const second = await world.start(graph, { n: 2, customer: "a" });
  const third = await world.start(graph, { n: 3, customer: "a" });
  await until(() => begun.length === 2);
  await world.host.park(AbortSignal.abort(), second.id);

  const next = world.next();
  await next.host.recover();
  await until(() => begun.includes(3));
  const resumed = await next.host.request(second.id, { type: "resume" });
  expect(resumed.status).not.toBe("completed");
  await expect.poll(async () => (await next.host.settled(second.id)).status).toBe("queued");
  expect(await next.journal.findLine(resumed.no)).toEqual({ holders: [third.id], before: 0 });
  open.resolve();
  expect((await next.host.settled(third.id)).status).toBe("completed");
  await expect.poll(async () => (await next.host.settled(second.id)).status).toBe("completed");
  expect(begun).toEqual([1, 2, 3, 2]);
  expect([...world.defects, ...next.defects]).toEqual([]);
});
