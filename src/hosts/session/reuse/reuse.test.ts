import { expect, test, vi } from "vitest";
import { path, task, toGraph } from "../../../../test/faults/graphs.ts";
import { journalWith, succeed, World } from "../../../../test/faults/world.ts";
import { MemoryJournal } from "../../../../test/support/memory/memory-journal.ts";
import type { Step } from "../../../core/graph/graph.ts";
import { withMethods } from "../../../operations/application/with-methods.ts";
import type { Task } from "../../../ports/executor.ts";
import type { RunNo } from "../../../ports/journal.ts";

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

test("an outcome is taken over at a later attempt, where the process died before it had been", async () => {
  const journal = new MemoryJournal();
  const world = new World({ journal });
  const old = await world.run(graph, input);
  let commits = 1;
  const dying = world.next({
    journal: journalWith(journal, (entries, append) => (commits-- > 0 ? append(entries) : new Promise(() => {}))),
  });
  const { id } = await dying.start(graph, input, { lineage: { kind: "rerun", run: old.id, fromPath: "report" } });
  const later = world.next({ journal });
  await later.host.recover();
  expect((await later.host.settled(id)).status).toBe("completed");
  expect((await later.eventsOf(id)).filter(({ type }) => type === "stepInterrupted")).not.toEqual([]);
  expect(later.calls.map((call) => call.path)).toEqual(["report"]);
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

test("a run is not deleted while another one begins to take it over", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const lineage = { kind: "rerun", run: old.id, fromPath: "report" } as const;
  const starting = world.start(graph, input, { lineage, parentRunId: old.id });
  await expect(world.host.deleteRun(old.id)).rejects.toMatchObject({ code: "RUN_NEEDED" });
  const again = await starting;
  expect((await world.host.settled(again.id)).status).toBe("completed");
  await world.host.deleteRun(old.id);
});

test("a run that is being deleted is not taken over", async () => {
  const journal = new MemoryJournal();
  const isDeleting = Promise.withResolvers<void>();
  const mayDelete = Promise.withResolvers<void>();
  const deleteRun = async (run: RunNo) => {
    isDeleting.resolve();
    await mayDelete.promise;
    return journal.deleteRun(run);
  };
  const world = new World({ journal: withMethods(journal, { deleteRun }) });
  const old = await world.run(graph, input);
  const lineage = { kind: "rerun", run: old.id, fromPath: "report" } as const;
  const deleting = world.host.deleteRun(old.id);
  await isDeleting.promise;
  await expect(world.start(graph, input, { lineage, parentRunId: old.id })).rejects.toMatchObject({
    code: "RUN_NOT_FOUND",
  });
  mayDelete.resolve();
  await deleting;
  expect(await world.journal.listRuns({ limit: 10 })).toEqual([]);
});

test("a start that is refused keeps no run from being deleted", async () => {
  const world = new World({ host: { maxOutputBytes: 1_000 } });
  const old = await world.run(graph, input);
  const lineage = { kind: "rerun", run: old.id, fromPath: "report" } as const;
  const tooLarge = { ...input, other: "x".repeat(2_000) };
  await expect(world.start(graph, tooLarge, { lineage })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await world.host.deleteRun(old.id);
});

async function rerun(world: World, run: string, more: { fromPath: string; input?: typeof input }) {
  const next = world.next();
  const lineage = { kind: "rerun", run, fromPath: more.fromPath } as const;
  const record = await next.run(graph, more.input ?? input, { lineage });
  const paths = ["score[0]", "score[1]", "report"];
  const outputs = await Promise.all(paths.map((wanted) => next.outputOf(record.id, wanted)));
  return { record, outputs, calls: next.calls.map((call) => call.path).sort() };
}

const gate: Step = {
  kind: "approve",
  id: "gate",
  after: ["fetch"],
  message: { op: "text", parts: ["Send ", { value: path("steps.fetch"), written: "?" }, "?"] },
  show: path("steps.fetch"),
  allowEdit: true,
};

const gated = toGraph([
  task("fetch", { input: path("input.what") }),
  gate,
  task("send", { after: ["gate"], input: path("steps.gate") }),
]);

async function runGated(world: World) {
  const { id } = await world.run(gated, { what: "news" });
  await world.host.request(id, {
    type: "answer",
    path: "gate",
    answer: { answer: "approve", by: "Ada", edited: "good news" },
  });
  return world.host.settled(id);
}

test("a person is not asked again what they have answered, and their edit holds", async () => {
  const world = new World();
  const old = await runGated(world);
  const next = world.next();
  const again = await next.run(gated, { what: "news" }, { lineage: { kind: "rerun", run: old.id, fromPath: "send" } });
  expect(again.status).toBe("completed");
  expect(next.calls.map((call) => call.path)).toEqual(["send"]);
  expect(await next.outputOf(again.id, "send")).toBe("good news");
  const answered = (await next.eventsOf(again.id)).find(({ type }) => type === "approvalAnswered");
  expect(answered).toMatchObject({ by: "Ada", answer: "approve", reused: { run: old.id } });
});

test.each([
  ["the question is itself what is repeated", { what: "news" }, "gate"],
  ["the question comes after what is repeated", { what: "news" }, "fetch"],
  ["something else is shown", { what: "bad news" }, "send"],
])("a person is asked again where %s", async (_why, given, fromPath) => {
  const world = new World();
  const old = await runGated(world);
  const next = world.next();
  const again = await next.run(gated, given, { lineage: { kind: "rerun", run: old.id, fromPath } });
  expect(again.status).toBe("awaiting_approval");
});

test("what is done again has a new idempotency key, and the whole run can be repeated", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const next = world.next();
  await next.run(graph, input, { lineage: { kind: "rerun", run: old.id, fromPath: "" } });
  expect(next.calls).toHaveLength(world.calls.length);
  const keys = [...world.calls, ...next.calls].map((call) => call.idempotencyKey);
  expect(new Set(keys).size).toBe(2 * world.calls.length);
});

test("a run stays while a rerun of it goes on, and can be deleted afterwards", async () => {
  const world = new World();
  const old = await world.run(graph, input);
  const finish = Promise.withResolvers<void>();
  const next = world.next({ plays: { report: () => finish.promise.then(() => succeed("done")) } });
  const lineage = { kind: "rerun", run: old.id, fromPath: "report" } as const;
  const { id } = await next.start(graph, input, { lineage, parentRunId: old.id });
  await expect(next.host.deleteRun(old.id)).rejects.toMatchObject({ code: "RUN_NEEDED" });
  await expect(next.host.deleteRun(id)).rejects.toMatchObject({ code: "RUN_NOT_ENDED" });
  finish.resolve();
  await next.host.settled(id);
  await next.host.deleteRun(old.id);
  await expect(next.host.deleteRun(old.id)).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  expect(await next.outputOf(id, "fetch[0]")).toBe("a");
});
