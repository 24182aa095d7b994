import { expect, test, vi } from "vitest";
import { path, task, toGraph } from "../../../test/faults/graphs.ts";
import { succeed, World } from "../../../test/faults/world.ts";
import type { Task } from "../../ports/executor.ts";

const each = { list: path("input.items"), maxConcurrent: 10 };

/** Two items are fetched and scored; a report joins them, beside a step that depends on nothing. */
const graph = toGraph([
  task("fetch", { each, input: { op: "path", root: "item", path: [] } }),
  task("score", { after: ["fetch"], usesItem: true, input: path("steps.fetch") }),
  task("report", { after: ["score"], input: path("steps.score") }),
  task("other", { input: path("input.other") }),
]);

const input = { items: ["a", "b"], other: 1 };

test("a rerun from one item does that item's later steps and the join again, and takes the rest over", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const again = await rerun(world, old.id, { fromPath: "score[1]" });
  expect(again.calls).toEqual(["report", "score[1]"]);
  expect(again.outputs).toEqual(["a", "b", ["a", "b"]]);
});

test("a rerun does a step again whose input has changed, though it is not behind the target", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const again = await rerun(world, old.id, { fromPath: "report", input: { ...input, other: 2 } });
  expect(again.calls).toEqual(["other", "report"]);
});

test("what was taken over is neither paid again nor hidden", async () => {
  const world = new World({ plays: { fetch: (done: Task) => succeed(done.input, 1_000) } });
  const old = await world.run(graph, input);
  const again = await rerun(world, old.id, { fromPath: "report" });
  expect(again.record.costMicro).toBe(0);
  const events = await world.eventsOf(again.record.id);
  const fetched = events.find((event) => event.type === "stepSucceeded" && event.path === "fetch[0]");
  expect(fetched).toMatchObject({ reused: { run: old.id } });
});

test("a rerun that was interrupted still takes outcomes over when another process goes on", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const stuck = world.next({ plays: { score: () => new Promise(() => {}) } });
  const lineage = { kind: "rerun", run: old.id, fromPath: "score" } as const;
  const { id } = await stuck.start(graph, input, { lineage });
  await vi.waitFor(() => expect(stuck.calls).toHaveLength(2));
  const later = world.next();
  await later.host.recover();
  const record = await later.host.settled(id);
  expect(record.status).toBe("completed");
  expect(later.calls.map((call) => call.path).filter((called) => called.startsWith("fetch"))).toEqual([]);
});

test("a rerun of a run that is not there starts nothing", async () => {
  const world = new World();
  const lineage = { kind: "rerun", run: "nowhere", fromPath: "score" } as const;
  await expect(world.start(graph, input, { lineage })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  expect(await world.journal.listRuns({ limit: 10 })).toEqual([]);
});

async function rerun(world: World, run: string, more: { fromPath: string; input?: typeof input }) {
  const next = world.next();
  const lineage = { kind: "rerun", run, fromPath: more.fromPath } as const;
  const record = await next.run(graph, more.input ?? input, { lineage });
  const paths = ["score[0]", "score[1]", "report"];
  const outputs = await Promise.all(paths.map((wanted) => next.outputOf(record.id, wanted)));
  return { record, outputs, calls: next.calls.map((call) => call.path).sort() };
}
