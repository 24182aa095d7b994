import { expect, test } from "vitest";
import { path, task, toGraph } from "../../../../test/faults/graphs.ts";
import { ask, journalWith, type Play, succeed, untilAborted, World } from "../../../../test/faults/world.ts";
import { MemoryJournal } from "../../../../test/support/memory/memory-journal.ts";
import { createMask, createPieceMask } from "../../../config/create-mask.ts";
import type { Json } from "../../../core/json.ts";
import type { Append } from "../../../ports/journal.ts";

const GRAPH = toGraph([task("a"), task("after", { after: ["a"], input: path("steps.a") })]);

/** Asks these questions one after another, and gives what it was told. */
function asking(...keys: readonly string[]): Play {
  return async (call) => {
    const answers: Json[] = [];
    for (const key of keys) {
      const answer = await call.recorded(key);
      if (answer === undefined) return ask(key, { allowEdit: key.startsWith("edit"), costMicro: 5 });
      answers.push(answer);
    }
    return succeed(answers, 7);
  };
}

async function askedBy(world: World, runId: string): Promise<number> {
  return (await world.eventsOf(runId)).findLastIndex(({ type }) => type === "approvalAsked") + 1;
}

test("a task that asks leaves memory, and its answer comes to it as a record", async () => {
  const world = new World({ plays: { a: asking("deploy") } });
  const { id, status } = await world.run(GRAPH);
  expect(status).toBe("awaiting_approval");
  expect(world.host.driving).toBe(0);
  expect(await world.recordOf(id)).toMatchObject({ parked: true, costMicro: 5 });

  await world.host.request(id, {
    type: "answer",
    path: "a",
    answer: { answer: "reject", by: "ann", comment: "not now" },
  });
  expect(await world.host.settled(id)).toMatchObject({ status: "completed", costMicro: 12 });
  expect(await world.outputOf(id, "after")).toEqual([{ answer: "reject", by: "ann", comment: "not now" }]);
  expect(world.calls.map(({ attempt, idempotencyKey }) => `${attempt} ${idempotencyKey.replace(id, "")}`)).toEqual([
    "1 :a:1",
    "2 :a:1",
    "1 :after:1",
  ]);
});

test("edited data comes with the answer where the question allows it, and is refused where it does not", async () => {
  const world = new World({ plays: { a: asking("plain", "edit") } });
  const { id } = await world.run(GRAPH);
  const edited = { answer: "approve", edited: { x: 1 } } as const;
  await expect(world.host.request(id, { type: "answer", path: "a", answer: edited })).rejects.toMatchObject({
    code: "APPROVAL_EDIT_REFUSED",
  });
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  await world.host.settled(id);
  await world.host.request(id, { type: "answer", path: "a", answer: edited });
  await world.host.settled(id);
  expect(await world.outputOf(id, "a")).toEqual([{ answer: "approve" }, { answer: "approve", edited: { x: 1 } }]);
});

test("of a hundred answers one wins, and the others learn who was first, though the task asks on", async () => {
  const world = new World({ plays: { a: asking("one", "two") } });
  const { id } = await world.run(GRAPH);
  const asked = await askedBy(world, id);
  const answers = Array.from({ length: 100 }, (_, n) =>
    world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve", by: `person ${n}`, asked } }),
  );
  const ends = await Promise.allSettled(answers);
  const winner = ends.findIndex(({ status }) => status === "fulfilled");
  const lost = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.code), end.reason.message] : []));
  expect(lost).toHaveLength(198);
  expect(new Set(lost)).toEqual(
    new Set(["APPROVAL_CONFLICT", `"a" was already answered by person ${winner}: approve.`]),
  );

  expect((await world.host.settled(id)).status).toBe("awaiting_approval");
  await expect(
    world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve", asked } }),
  ).rejects.toMatchObject({
    code: "APPROVAL_CONFLICT",
    message: `"a" was already answered by person ${winner}: approve.`,
  });
});

test("a question that was answered is not asked again: the task fails rather than ask for ever", async () => {
  const world = new World({ plays: { a: () => ask("deploy", { costMicro: 5 }) } });
  const { id } = await world.run(GRAPH);
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  expect(await world.host.settled(id)).toMatchObject({ status: "failed", error: { code: "EXECUTOR_FAULT" } });
});

test("the step's time-out does not run while a person is asked, and runs anew afterwards", async () => {
  const graph = toGraph([task("a", { timeoutMs: 10_000 })]);
  const play: Play = async (call, signal) => {
    if ((await call.recorded("q")) === undefined) return ask("q");
    await untilAborted(signal);
    return succeed("too late");
  };
  const world = new World({ plays: { a: play } });
  const { id } = await world.run(graph);
  await world.clock.advance(3_600_000);
  expect((await world.recordOf(id)).status).toBe("awaiting_approval");
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  const settled = world.host.settled(id);
  await world.clock.advance(9_999);
  expect((await world.recordOf(id)).status).toBe("running");
  await world.clock.advance(1);
  expect((await settled).status).toBe("completed");
});

test("what a person is to judge is masked, and kept as a blob where it is large", async () => {
  const show = { key: "secret-1", large: "x".repeat(100_000) };
  const world = new World({
    plays: { a: () => ask("q", { show, message: "Use secret-1?" }) },
    host: { mask: createMask(["secret-1"]) },
  });
  const { id } = await world.run(GRAPH);
  const events = await world.eventsOf(id);
  expect(events.find(({ type }) => type === "approvalAsked")).toMatchObject({ message: "Use [redacted]?", key: "q" });
  expect(await world.valuesOf(id, "approvalAsked")).toEqual([expect.stringMatching(/^~/)]);
  await world.host.request(id, {
    type: "answer",
    path: "a",
    answer: { answer: "reject", comment: "it shows secret-1" },
  });
  expect(JSON.stringify(await world.eventsOf(id))).not.toContain("secret-1");
});

test("a task that is told to stop for a park and comes to its question waits for the answer", async () => {
  const play: Play = async (call, signal) => {
    if ((await call.recorded("q")) !== undefined) return succeed("done");
    await untilAborted(signal);
    return ask("q", { costMicro: 9 });
  };
  const world = new World({ plays: { a: play } });
  const { id } = await world.start(GRAPH);
  await expect.poll(() => world.calls.length).toBe(1);
  await world.host.park(AbortSignal.abort());
  expect(await world.recordOf(id)).toMatchObject({ status: "awaiting_approval", parked: true, costMicro: 9 });

  const next = world.next();
  expect(await next.host.recover()).toEqual({ resumed: 0 });
  await next.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  expect((await next.host.settled(id)).status).toBe("completed");
});

test("a run that is cut at any commit asks each question once and ends with the same answers", async () => {
  const commits = (await driveWithCut(undefined)).commits;
  expect(commits).toBeGreaterThan(5);
  for (let cut = 1; cut <= commits; cut += 1) {
    const { world, id } = await driveWithCut(cut);
    const types = (await world.eventsOf(id)).map(({ type }) => type);
    expect(types.filter((type) => type === "approvalAsked")).toHaveLength(2);
    expect(types.filter((type) => type === "approvalAnswered")).toHaveLength(2);
    expect(await world.outputOf(id, "after")).toEqual([
      { answer: "approve", by: "1" },
      { answer: "approve", by: "2" },
    ]);
    expect((await world.recordOf(id)).costMicro).toBe(17);
  }
});

/** After `cut` commits the process is gone: nothing of it reaches the journal any more, and another one goes on. */
async function driveWithCut(cut: number | undefined) {
  let commits = 0;
  let isDead = false;
  const disk = new MemoryJournal();
  const journal = journalWith(disk, async (entries: readonly Append[], append) => {
    if (isDead) return new Promise(() => undefined);
    commits += 1;
    const results = await append(entries);
    isDead = commits === cut;
    return isDead ? new Promise(() => undefined) : results;
  });
  const first = new World({ journal, plays: { a: asking("one", "two") } });
  const started = first.start(GRAPH, {}, { runId: "run-1" });
  void started.catch(() => undefined);
  let world = first;
  for (let round = 0; round < 30; round += 1) {
    if (isDead && world === first) {
      world = first.next({ journal: disk });
      await world.host.recover();
    }
    await new Promise(setImmediate);
    const record = await disk.findRun("run-1");
    if (record === undefined || record === "ambiguous") continue;
    if (record.completedAt !== undefined) break;
    if (record.status !== "awaiting_approval") continue;
    const answered = (await world.eventsOf("run-1")).filter(({ type }) => type === "approvalAnswered").length;
    const answer = { answer: "approve", by: String(answered + 1), asked: await askedBy(world, "run-1") } as const;
    const done = world.host.request("run-1", { type: "answer", path: "a", answer });
    const settled = done.then(
      () => true,
      () => true,
    );
    while (!isDead && !(await Promise.race([settled, new Promise(setImmediate)])));
  }
  return { world, id: "run-1", commits };
}

test("a rerun takes over what a task gave after its questions, and asks again where the task itself is repeated", async () => {
  const world = new World({ plays: { a: asking("q") } });
  const { id } = await world.run(GRAPH);
  await world.host.request(id, { type: "answer", path: "a", answer: { answer: "approve" } });
  await world.host.settled(id);
  const rerun = (fromPath: string) => world.run(GRAPH, {}, { lineage: { kind: "rerun", run: id, fromPath } });
  expect((await rerun("after")).status).toBe("completed");
  expect((await rerun("a")).status).toBe("awaiting_approval");
});

test("what is of the moment reaches those who watch, masked wherever it is cut, and is stored nowhere", async () => {
  const open = Promise.withResolvers<void>();
  const play: Play = async (call) => {
    await open.promise;
    for (const text of ["the sec", "ret-1 is", " out, and a sec"])
      call.emit({ type: "live", event: { block: 0, text } });
    call.emit({ type: "live", event: { block: 1, text: "ret-1 x" } });
    call.emit({ type: "live", event: { tool: "secret-1" } });
    call.emit({ type: "live", event: { text: "y".repeat(100_000) } });
    return succeed(1);
  };
  const secrets = ["secret-1"];
  const host = { mask: createMask(secrets), maskPieces: createPieceMask(secrets) };
  const world = new World({ plays: { a: play }, host });
  const { id } = await world.start(GRAPH);
  const notices = world.notices(id);
  open.resolve();
  await world.host.settled(id);
  const live = notices.flatMap((notice) => (notice.type === "live" ? [notice] : []));
  expect(live[0]).toMatchObject({ path: "a", attempt: 1 });
  expect(live.map(({ event }) => event)).toEqual([
    { block: 0, text: "the " },
    { block: 0, text: "[redacted] i" },
    { block: 0, text: "s out, and a " },
    { block: 0, text: "sec" },
    { block: 1, text: "ret-1 x" },
    { tool: "[redacted]" },
  ]);
  expect(await world.typesOf(id)).not.toContain("stepLogged");
});
