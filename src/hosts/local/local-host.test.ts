import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { quiet } from "../../../test/fakes/fake-clock.ts";
import { literal, path, task, text, toGraph } from "../../../test/faults/graphs.ts";
import { fail, journalWith, succeed, untilAborted, World } from "../../../test/faults/world.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Executor } from "../../ports/executor.ts";
import type { Append } from "../../ports/journal.ts";
import { MemoryJournal } from "../../storage/memory/memory-journal.ts";
import { SqliteJournal } from "../../storage/sqlite/sqlite-journal.ts";

const once = toGraph([task("a")]);
const pair = toGraph([task("a"), task("b", { after: ["a"] })]);

function waitFor(durationMs: number) {
  return toGraph([
    { kind: "wait", id: "w", wait: { for: "duration", durationMs: literal(durationMs) } },
    task("after", { after: ["w"] }),
  ]);
}

const approval = toGraph([
  { kind: "approve", id: "ok", message: literal("Go?"), show: literal({ n: 1 }), allowEdit: true },
  task("after", { after: ["ok"], input: path("steps.ok") }),
]);

const waitsForSignal = toGraph([
  { kind: "wait", id: "w", wait: { for: "event", name: literal("go") } },
  task("after", { after: ["w"], input: path("steps.w") }),
]);

describe("commits", () => {
  test("runs that have become ready together share one", async () => {
    const sizes: number[] = [];
    const journal = journalWith(new MemoryJournal(), (entries, append) => {
      sizes.push(entries.length);
      return append(entries);
    });
    const world = new World({ journal });
    const runs = await Promise.all(Array.from({ length: 100 }, () => world.start(pair)));
    await Promise.all(runs.map(({ id }) => world.host.settled(id)));

    expect(sizes[0]).toBe(100);
    expect(sizes.length).toBeLessThanOrEqual(8);
  });

  test("nothing is performed before what it follows from is durable", async () => {
    let letGo = (): void => undefined;
    const journal = journalWith(new MemoryJournal(), async (entries, append) => {
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      return append(entries);
    });
    const world = new World({ journal });
    const starting = world.start(once);
    await quiet();
    expect(world.calls).toHaveLength(0);

    letGo();
    const { id } = await starting;
    await quiet();
    expect(world.calls.map(({ path: at }) => at)).toEqual(["a"]);
    expect(await world.typesOf(id)).toEqual(["runStarted"]);
  });

  test("one run whose listener throws keeps no other from its result", async () => {
    const world = new World();
    world.host.watch("bad", () => {
      throw new Error("listener");
    });
    const records = await Promise.all(["bad", "good"].map((runId) => world.run(pair, {}, { runId })));

    expect(records.map(({ status }) => status)).toEqual(["completed", "completed"]);
    expect(world.defects.length).toBeGreaterThan(0);
  });

  test("a journal that throws what it does not document stops the run here, and tells who waits", async () => {
    const journal = journalWith(new MemoryJournal(), async () => {
      throw new TypeError("defect");
    });
    const world = new World({ journal });
    await expect(world.start(once)).rejects.toMatchObject({ code: "OWNER_GONE" });
    expect(world.host.driving).toBe(0);
    expect(world.defects[0]).toBeInstanceOf(TypeError);
  });

  test("a run that somebody else has written to is discarded, and goes on from what is on the disk", async () => {
    const memory = new MemoryJournal();
    const world = new World({ journal: memory, plays: { a: () => succeed("mine") } });
    const { id, no, lastSeq } = await world.run(waitsForSignal);
    await world.host.resumeRun(id);
    const foreign = world.next();
    await foreign.host.sendSignal(id, "go", "theirs");
    const stale: Append = {
      run: no,
      afterSeq: lastSeq,
      events: [{ event: { type: "signalReceived", at: 1, name: "go" } }],
    };

    expect(await memory.append([stale])).toMatchObject([{ ok: false, reason: "conflict" }]);
    await foreign.host.settled(id);
    expect((await world.recordOf(id)).status).toBe("completed");
  });

  test("what a discarded run had in memory is never taken for what is on the disk", async () => {
    const memory = new MemoryJournal();
    const foreign = new World({ journal: memory, plays: { after: () => new Promise(() => undefined) } });
    let isLate = false;
    const journal = journalWith(memory, async (entries, append) => {
      if (isLate) {
        isLate = false;
        await foreign.host.sendSignal("r", "go", "theirs");
      }
      return append(entries);
    });
    const world = new World({ journal });
    await world.run(waitsForSignal, {}, { runId: "r" });
    isLate = true;
    await expect(world.host.sendSignal("r", "go", "mine")).rejects.toMatchObject({ code: "OWNER_GONE" });

    await quiet();
    await world.host.resumeRun("r");
    await world.host.settled("r");
    expect(await world.outputOf("r", "after")).toBe("theirs");
    expect(world.defects).toHaveLength(1);
  });
});

describe("a step's start", () => {
  test("is left out where the outcome lands in the same commit", async () => {
    const world = new World();
    const { id } = await world.run(once);
    expect(await world.typesOf(id)).toEqual(["runStarted", "stepSucceeded", "runFinished"]);
  });

  test("is written where the step takes its time, with its input masked where that is kept", async () => {
    const world = new World({
      recordsInput: true,
      plays: { a: (_, signal) => untilAborted(signal).then(() => fail("STOPPED")) },
      host: { mask: (unmasked) => unmasked.replaceAll("s3cret", "***") },
    });
    const { id } = await world.start(toGraph([task("a", { input: text("key s3cret") })]));
    await quiet();

    expect(await world.typesOf(id)).toEqual(["runStarted", "stepStarted"]);
    expect(await world.valuesOf(id, "stepStarted")).toEqual(['"key ***"']);
  });
});

describe("time-outs", () => {
  const slow = toGraph([task("a", { timeoutMs: 1_000 })]);

  test("run from the real start, not from the queue", async () => {
    const found = Promise.withResolvers<void>();
    const run: Executor["run"] = (_, signal) => untilAborted(signal).then(() => fail("STOPPED"));
    const world = new World({ host: { findExecutor: () => found.promise.then(() => ({ recordsInput: false, run })) } });
    const { id } = await world.start(slow);
    await world.clock.advance(5_000);
    found.resolve();
    await world.clock.advance(999);
    expect((await world.recordOf(id)).status).toBe("running");
    await world.clock.advance(1);
    expect(await world.recordOf(id)).toMatchObject({ error: { code: "TIMEOUT" } });
  });

  test("tell the executor to stop and fail the step with TIMEOUT", async () => {
    const world = new World({
      plays: { a: (_, signal) => untilAborted(signal).then(() => fail("STOPPED", { costMicro: 7 })) },
    });
    const { id } = await world.start(slow);
    await world.clock.advance(999);
    expect((await world.recordOf(id)).status).toBe("running");
    await world.clock.advance(1);

    expect(await world.recordOf(id)).toMatchObject({ status: "failed", error: { code: "TIMEOUT" }, costMicro: 7 });
    expect(world.clock.armed).toBe(0);
  });

  test("do not take back a success that came all the same", async () => {
    const world = new World({ plays: { a: (_, signal) => untilAborted(signal).then(() => succeed("made it")) } });
    const { id } = await world.start(slow);
    await world.clock.advance(1_000);
    expect(await world.recordOf(id)).toMatchObject({ status: "completed" });
    expect(await world.outputOf(id, "a")).toBe("made it");
  });

  test("wait five seconds for an executor that does not come back, and then for it no longer", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(slow);
    await world.clock.advance(5_999);
    expect(await world.typesOf(id)).not.toContain("stepFailed");
    await world.clock.advance(1);
    expect(await world.recordOf(id)).toMatchObject({ status: "failed", error: { code: "TIMEOUT" } });
  });
});

describe("costs", () => {
  test("are recorded when they are reported, and counted once", async () => {
    const world = new World({
      plays: {
        a: async (call) => {
          call.emit({ type: "cost", costMicro: 30 });
          await quiet(5);
          return succeed(null, 50);
        },
      },
    });
    const { id, costMicro } = await world.run(once);
    expect(costMicro).toBe(50);
    expect(await world.typesOf(id)).toContain("costReported");
  });

  test("of an attempt that was given up are booked while the run goes on", async () => {
    const late = Promise.withResolvers<ReturnType<typeof succeed>>();
    const world = new World({
      plays: { a: () => late.promise, b: (_, signal) => untilAborted(signal).then(() => succeed(null, 1)) },
    });
    const { id } = await world.start(
      toGraph([task("a", { timeoutMs: 10, onFailure: "continue" }), task("b", { timeoutMs: 20_000 })]),
    );
    await world.clock.advance(6_000);
    late.resolve(succeed("late", 40));
    await world.clock.advance(20_000);
    expect(await world.recordOf(id)).toMatchObject({ status: "partial", costMicro: 41 });
  });
});

describe("durable progress inside a step", () => {
  test("is there again after a restart, under the same idempotency key", async () => {
    const world = new World({
      plays: {
        a: async (call) => {
          await call.record("turn", { n: 1 });
          return untilAborted(new AbortController().signal).then(() => succeed(null));
        },
      },
    });
    const { id } = await world.start(once);
    await quiet();
    const next = world.next({ plays: { a: async (call) => succeed((await call.recorded("turn")) ?? null) } });
    await next.host.recover();
    await next.host.settled(id);

    expect(await next.outputOf(id, "a")).toEqual({ n: 1 });
    expect(next.calls[0]).toMatchObject({ attempt: 2, idempotencyKey: world.calls[0]?.idempotencyKey });
  });

  test("is refused where the run is no longer driven here", async () => {
    let recording: Promise<void> | undefined;
    let refuses = false;
    const journal = journalWith(new MemoryJournal(), (entries, append) =>
      refuses
        ? Promise.resolve(entries.map(() => ({ ok: false, reason: "conflict", message: "Taken." }) as const))
        : append(entries),
    );
    const world = new World({
      journal,
      plays: {
        a: async (call) => {
          refuses = true;
          recording = call.record("turn", 1);
          recording.catch(() => undefined);
          return untilAborted(new AbortController().signal).then(() => succeed(null));
        },
      },
    });
    await world.start(once);
    await quiet();
    await expect(recording).rejects.toMatchObject({ code: "OWNER_GONE" });
  });
});

describe("values", () => {
  const large = "x".repeat(100_000);

  test("over 64 KiB lie in the blob store", async () => {
    const world = new World({ plays: { a: () => succeed(large) } });
    const { id } = await world.run(toGraph([task("a"), task("b", { after: ["a"], input: path("steps.a") })]));
    const [stored = ""] = await world.valuesOf(id, "stepSucceeded");

    expect(stored).toMatch(/^~[0-9a-f]{64}$/);
    expect(await world.outputOf(id, "b")).toBe(large);
  });

  test("over the limit fail the step with OUTPUT_TOO_LARGE, paid all the same", async () => {
    const world = new World({ plays: { a: () => succeed(large, 9) }, host: { maxOutputBytes: 70_000 } });
    expect(await world.run(once)).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_TOO_LARGE" },
      costMicro: 9,
    });
  });

  test.each([
    ["nothing at all", undefined],
    ["an outcome without output", { status: "succeeded", costMicro: 3 }],
    ["what JSON cannot say", { status: "succeeded", output: 1n, costMicro: 3 }],
  ])("that are %s are the executor's fault, and the run ends", async (_, outcome) => {
    const world = new World({ plays: { a: () => outcome as never } });
    expect(await world.run(once)).toMatchObject({ status: "failed", error: { code: "EXECUTOR_FAULT" } });
  });

  test("that are lost fail the step that reads them with BLOB_MISSING", async () => {
    const world = new World({ plays: { a: () => succeed(large) } });
    const graph = toGraph([
      task("a"),
      { kind: "approve", id: "ok", after: ["a"], message: literal("?") },
      task("b", { after: ["ok"], input: path("steps.a") }),
    ]);
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.answerApproval(id, "ok", { answer: "approve" });

    expect(await next.host.settled(id)).toMatchObject({ status: "failed", error: { code: "BLOB_MISSING" } });
    expect(next.calls).toHaveLength(0);
  });

  test("that are lost fail a step whose condition reads them, instead of deciding without", async () => {
    const graph = toGraph({
      kind: "machine",
      start: "big",
      steps: [
        { ...task("big"), transitions: [{ on: "success", to: "ok" }] },
        {
          kind: "approve",
          id: "ok",
          message: literal("?"),
          assign: { copy: path("steps.big") },
          transitions: [{ on: "success", to: "end" }],
        },
        task("end"),
      ],
    });
    const world = new World({ plays: { big: () => succeed(large) } });
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.answerApproval(id, "ok#1", { answer: "approve" });

    expect(await next.host.settled(id)).toMatchObject({ status: "failed", error: { code: "BLOB_MISSING" } });
  });

  test("of a task whose assignment reads a lost value fail it, paid all the same", async () => {
    const graph = toGraph({
      kind: "machine",
      start: "big",
      steps: [
        { ...task("big"), transitions: [{ on: "success", to: "ok" }] },
        { kind: "approve", id: "ok", message: literal("?"), transitions: [{ on: "success", to: "copy" }] },
        task("copy", { assign: { copy: path("steps.big") } }),
      ],
    });
    const world = new World({ plays: { big: () => succeed(large), copy: () => succeed(1, 5) } });
    const { id } = await world.run(graph);
    for await (const { sha256 } of world.blobs.list()) await world.blobs.remove(sha256);
    const next = world.next();
    await next.host.answerApproval(id, "ok#1", { answer: "approve" });

    expect(await next.host.settled(id)).toMatchObject({
      status: "failed",
      error: { code: "BLOB_MISSING" },
      costMicro: 5,
    });
  });
});

describe("secrets", () => {
  test("are nowhere in the journal, the storage, the blobs or what is shown", async () => {
    const world = new World({
      recordsInput: true,
      plays: {
        a: async (call) => {
          call.emit({ type: "log", event: "log s3cret" });
          await call.record("turn", "s3cret");
          return succeed({ token: "s3cret", big: `s3cret${"x".repeat(100_000)}` });
        },
        b: () => fail("DENIED", { message: "no s3cret", details: { header: "s3cret" } }),
      },
      host: { mask: (unmasked) => unmasked.replaceAll("s3cret", "***"), env: () => "s3cret" },
    });
    const graph = toGraph(
      [
        task("a", { input: text("prompt ", path("env.KEY")), assign: { key: path("env.KEY") } }),
        task("b", {
          after: ["a"],
          when: { op: "compare", by: "!=", left: path("input.token"), right: literal("?") },
          onFailure: "continue",
        }),
        { kind: "set", id: "c", after: ["b"], value: path("env.KEY"), assign: { c: path("env.KEY") } },
        {
          kind: "approve",
          id: "d",
          after: ["c"],
          message: text("Use ", path("env.KEY"), "?"),
          show: path("env.KEY"),
          assign: { d: path("env.KEY") },
        },
        task("e", {
          after: ["d"],
          when: { op: "compare", by: "==", left: path("input.token"), right: path("vars.none") },
        }),
      ],
      { envAllowed: ["KEY"], ending: { storagePath: literal("out.json"), deadLetter: true } },
    );
    const runId = "r1";
    const notices = world.notices(runId);
    await world.run(graph, { token: "s3cret" }, { runId });
    await world.host.answerApproval(runId, "d", { answer: "approve" });
    const { no } = await world.host.settled(runId);

    const events = await world.eventsOf(runId);
    const values = await world.journal.readValues(
      no,
      events.map((_, index) => index + 1),
    );
    const blobs: string[] = [];
    for await (const { sha256 } of world.blobs.list())
      blobs.push(new TextDecoder().decode(await world.blobs.get(sha256)));
    const stored = new TextDecoder().decode(await world.files.read("out.json"));
    const everything = JSON.stringify([
      events,
      [...values],
      blobs,
      stored,
      notices,
      await world.journal.readOutbox({ limit: 99 }),
      await world.recordOf(runId),
    ]);
    expect(everything).toContain("***");
    expect(everything).not.toContain("s3cret");
  });
});

describe("runs that only wait", () => {
  test("leave memory and come back when their time has come", async () => {
    const world = new World();
    const { id } = await world.start(waitFor(60_000));
    await quiet();
    expect(world.host.driving).toBe(0);
    expect(await world.recordOf(id)).toMatchObject({ status: "waiting", parked: true });

    await world.clock.advance(60_000);
    expect(await world.recordOf(id)).toMatchObject({ status: "completed" });
  });

  test("leave memory and come back for a signal, or an answer", async () => {
    const world = new World();
    const [first, second] = [await world.run(waitsForSignal), await world.run(approval)];
    expect(world.host.driving).toBe(0);

    await world.host.sendSignal(first.id, "go", 1);
    await world.host.answerApproval(second.id, "ok", { answer: "approve" });
    expect(await world.host.settled(first.id)).toMatchObject({ status: "completed" });
    expect(await world.host.settled(second.id)).toMatchObject({ status: "completed" });
  });

  test("are not kept in memory by who asks in vain", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    await expect(world.host.answerApproval(id, "nowhere", { answer: "approve" })).rejects.toMatchObject({
      code: "APPROVAL_NOT_OPEN",
    });
    await world.host.resumeRun(id);
    expect(world.host.driving).toBe(0);
  });

  test("do not slow the start of a host, however many they are", async () => {
    const journal = SqliteJournal.open({ path: join(temporaryFolder(), "pawl.db"), durability: "process" });
    onTestFinished(() => journal.close());
    const world = new World({ journal });
    const runs = await Promise.all(Array.from({ length: 10_000 }, () => world.start(approval)));
    await Promise.all(runs.map(({ id }) => world.host.settled(id)));
    expect(world.host.driving).toBe(0);
    const next = world.next();
    const before = performance.now();
    expect(await next.host.recover()).toEqual({ resumed: 0 });
    expect(performance.now() - before).toBeLessThan(100);
    expect(next.host.driving).toBe(0);
  });

  test("get every answer and signal, also when the run leaves memory while its data is being stored", async () => {
    const world = new World();
    const slowBlobs = Promise.withResolvers<void>();
    const blobs = world.blobs;
    const next = world.next({
      blobs: {
        put: async (content) => {
          await slowBlobs.promise;
          return blobs.put(content);
        },
        get: (sha256) => blobs.get(sha256),
        list: () => blobs.list(),
        remove: (sha256) => blobs.remove(sha256),
      },
    });
    const graph = toGraph([
      { kind: "wait", id: "w", wait: { for: "event", name: literal("go") } },
      { kind: "approve", id: "ok", message: literal("?"), allowEdit: true },
    ]);
    const { id } = await next.run(graph);
    const large = "x".repeat(100_000);
    const answering = next.host.answerApproval(id, "ok", { answer: "approve", edited: large });
    await quiet();
    // The run is loaded for this one, and leaves memory again before the other is stored.
    await next.host.sendSignal(id, "other", 1);
    await quiet();
    slowBlobs.resolve();
    await answering;
    await next.host.sendSignal(id, "go", large);

    expect(await next.host.settled(id)).toMatchObject({ status: "completed" });
    expect(await next.typesOf(id)).toEqual(expect.arrayContaining(["approvalAnswered", "signalReceived"]));
  });
});

describe("answers to an approval", () => {
  test("of two at once one wins, and the other is told who was first", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    const answers = await Promise.allSettled([
      world.host.answerApproval(id, "ok", { answer: "approve", by: "ann" }),
      world.host.answerApproval(id, "ok", { answer: "reject", by: "bob" }),
    ]);

    expect(answers).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: "APPROVAL_CONFLICT" } },
    ]);
    expect(answers[1]).toMatchObject({ reason: { message: expect.stringContaining("by ann: approve") } });
  });

  test("of a hundred at once one wins, large edits or not", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    const answers = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) =>
        world.host.answerApproval(id, "ok", {
          answer: "approve",
          by: `p${n}`,
          ...(n % 2 === 0 ? {} : { edited: "x".repeat(n * 1_000) }),
        }),
      ),
    );

    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === "rejected") expect(answer.reason).toMatchObject({ code: "APPROVAL_CONFLICT" });
    expect((await world.typesOf(id)).filter((type) => type === "approvalAnswered")).toHaveLength(1);
  });

  test("after the run has ended get the same conflict", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    await world.host.answerApproval(id, "ok", { answer: "approve", by: "ann" });
    await world.host.settled(id);
    await expect(world.host.answerApproval(id, "ok", { answer: "approve" })).rejects.toMatchObject({
      code: "APPROVAL_CONFLICT",
    });
  });

  test.each([0, 1])("against the time-out the first in the journal wins (%i ms after it)", async (ms) => {
    const graph = toGraph([
      { kind: "approve", id: "ok", message: literal("?"), approvalTimeoutMs: 1_000, onApprovalTimeout: "skip" },
    ]);
    const world = new World();
    const { id } = await world.start(graph);
    await world.clock.advance(999);
    const answering = world.host.answerApproval(id, "ok", { answer: "approve" });
    answering.catch(() => undefined);
    if (ms === 0) await quiet();
    await world.clock.advance(1 + ms);
    const [answer] = await Promise.allSettled([answering]);
    const events = await world.eventsOf(id);

    const succeeded = events.some(({ type }) => type === "approvalAnswered");
    expect(answer.status).toBe(succeeded ? "fulfilled" : "rejected");
    expect(await world.recordOf(id)).toMatchObject({ completedAt: expect.any(Number) });
  });
});

describe("cancel", () => {
  const flying = (_: unknown, signal: AbortSignal) => untilAborted(signal).then(() => fail("STOPPED"));

  test("stops what flies and ends the run", async () => {
    const world = new World({ plays: { a: flying } });
    const { id } = await world.start(pair);
    await quiet();
    await world.host.cancelRun(id, { by: "ann" });
    await quiet();

    expect(await world.recordOf(id)).toMatchObject({ status: "cancelled", completedAt: expect.any(Number) });
    expect(world.calls).toHaveLength(1);
  });

  test("a second time ends the run without waiting for what flies", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(pair);
    await quiet();
    await world.host.cancelRun(id, {});
    await quiet();
    expect(await world.recordOf(id)).toMatchObject({ status: "running" });
    await world.host.cancelRun(id, {});
    await quiet();

    expect(await world.recordOf(id)).toMatchObject({ status: "cancelled" });
    expect(world.host.driving).toBe(0);
  });

  test("against the end: whichever is first, the caller is told and the run ends once", async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const world = new World();
      const { id } = await world.start(once);
      await quiet(turns);
      const [cancelled] = await Promise.allSettled([world.host.cancelRun(id, {}), quiet()]);
      const record = await world.host.settled(id);
      expect(["completed", "cancelled"]).toContain(record.status);
      if (cancelled.status === "rejected") expect(cancelled.reason).toMatchObject({ code: "RUN_FINISHED" });
      expect((await world.typesOf(id)).filter((type) => type === "runFinished")).toHaveLength(1);
      expect(record.completedAt).toBeDefined();
      expect(world.defects).toEqual([]);
    }
  });

  test("while the commit of the end hangs is told how the run ended", async () => {
    let hold = false;
    let letGo = (): void => undefined;
    const journal = journalWith(new MemoryJournal(), async (entries, append) => {
      if (hold) {
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
      }
      return append(entries);
    });
    const world = new World({
      journal,
      plays: {
        a: async () => {
          hold = true;
          return succeed(1);
        },
      },
    });
    const { id } = await world.start(once);
    await quiet();
    letGo();
    await quiet();
    const cancelling = world.host.cancelRun(id, {});
    cancelling.catch(() => undefined);
    await quiet();
    hold = false;
    letGo();
    await expect(cancelling).rejects.toMatchObject({ code: "RUN_FINISHED" });
    expect(await world.recordOf(id)).toMatchObject({ status: "completed", completedAt: expect.any(Number) });
    expect(world.defects).toEqual([]);
  });

  test("closes the record: what an executor still reports comes too late, and harms nothing", async () => {
    const world = new World({
      plays: { a: () => new Promise(() => undefined) },
      host: {
        env: () => {
          // In the very moment between the end and its commit.
          queueMicrotask(() => world.calls[0]?.emit({ type: "cost", costMicro: 5 }));
          return "http://127.0.0.1:9/hook";
        },
      },
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a definition names a variable.
    const { id } = await world.start(toGraph([task("a")], { ending: { failureWebhook: "${HOOK}" } }));
    await quiet();
    await world.host.cancelRun(id, {});
    await world.host.cancelRun(id, {});
    await quiet();

    expect(await world.recordOf(id)).toMatchObject({ status: "cancelled", completedAt: expect.any(Number) });
    expect((await world.typesOf(id)).at(-1)).toBe("runFinished");
    expect(world.defects).toEqual([]);
  });

  test("of a run that is just being rebuilt loads it once", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(pair);
    await quiet();
    const next = world.next({ plays: { a: flying } });
    await Promise.all([
      next.host.recover(),
      next.host.cancelRun(id, {}),
      next.host.resumeRun(id),
      next.host.resumeRun(id),
    ]);
    await quiet();

    expect(await next.recordOf(id)).toMatchObject({ status: "cancelled" });
    expect((await next.typesOf(id)).filter((type) => type === "stepInterrupted")).toHaveLength(1);
    expect(next.defects).toEqual([]);
  });
});

describe("settled", () => {
  test("of a run that nobody knows is RUN_NOT_FOUND", async () => {
    await expect(new World().host.settled("nobody")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("of a finished or parked run is its record, at once", async () => {
    const world = new World();
    const [finished, parked] = [await world.run(once), await world.run(approval)];
    expect((await world.host.settled(finished.id)).status).toBe("completed");
    expect((await world.host.settled(parked.id)).status).toBe("awaiting_approval");
  });

  test("waits for a run that is just being taken up", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(once);
    await quiet();
    const next = world.next({ plays: { a: () => succeed(1) } });
    const [, record] = await Promise.all([
      next.host.recover(),
      next.host.resumeRun(id).then(() => next.host.settled(id.slice(0, 20))),
    ]);
    expect(record.status).toBe("completed");
  });
});

describe("laying runs down", () => {
  const never = new AbortController().signal;

  test("gives what flies back; it goes on later without a crash being counted", async () => {
    const world = new World({
      plays: { a: (_, signal) => untilAborted(signal).then(() => fail("STOPPED", { costMicro: 3 })) },
    });
    const { id } = await world.start(pair);
    await quiet();
    await world.host.park(never);
    expect(await world.eventsOf(id)).toContainEqual(
      expect.objectContaining({ type: "stepInterrupted", cause: "parked" }),
    );

    const next = world.next({ plays: {} });
    await next.host.recover();
    expect(await next.host.settled(id)).toMatchObject({ status: "completed", costMicro: 3 });
    const events = await next.eventsOf(id);
    expect(events).toContainEqual(expect.objectContaining({ type: "runResumed" }));
    expect(events.filter((event) => event.type === "stepInterrupted")).toHaveLength(1);
  });

  test("leaves a step that may run only once to finish, and does not burn the one behind it", async () => {
    const done = Promise.withResolvers<void>();
    const world = new World({ plays: { a: () => done.promise.then(() => succeed("done")) } });
    const graph = toGraph([task("a", { atMostOnce: true }), task("b", { after: ["a"], atMostOnce: true })]);
    const { id } = await world.start(graph);
    await quiet();
    const parking = world.host.park(never);
    await quiet();
    done.resolve();
    await parking;
    expect(world.calls.map(({ stepId }) => stepId)).toEqual(["a"]);

    const next = world.next({ plays: {} });
    await next.host.recover();
    expect(await next.host.settled(id)).toMatchObject({ status: "completed" });
    expect(next.calls.map(({ stepId }) => stepId)).toEqual(["b"]);
  });

  test("cuts a step that may run only once when forced; nobody knows what it did", async () => {
    const world = new World({ plays: { a: (_, signal) => untilAborted(signal).then(() => fail("STOPPED")) } });
    const { id } = await world.start(toGraph([task("a", { atMostOnce: true })]));
    await quiet();
    const force = new AbortController();
    const parking = world.host.park(force.signal);
    await quiet();
    expect(world.clock.armed).toBe(0);
    force.abort();
    await parking;
    const next = world.next();
    await next.host.recover();
    expect(await next.host.settled(id)).toMatchObject({ status: "failed", error: { code: "INTERRUPTED" } });
  });

  test("waits at most five seconds for an executor that does not come back", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    await world.start(once);
    await quiet();
    let isParked = false;
    const parking = world.host.park(never).then(() => {
      isParked = true;
    });
    await world.clock.advance(4_999);
    expect(isParked).toBe(false);
    await world.clock.advance(1);
    await parking;
  });

  test("takes no more: who comes is sent to the next owner", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    await world.host.park(never);
    await expect(world.start(once)).rejects.toMatchObject({ code: "OWNER_GONE" });
    await expect(world.host.answerApproval(id, "ok", { answer: "approve" })).rejects.toMatchObject({
      code: "OWNER_GONE",
    });
  });
});

describe("recovery", () => {
  test("a run that cannot be read is reported and keeps no other from going on", async () => {
    const memory = new MemoryJournal();
    const world = new World({ journal: memory, plays: { a: () => new Promise(() => undefined) } });
    const [bad, good] = [await world.start(once), await world.start(pair)];
    await quiet();
    const next = world.next({
      plays: {},
      journal: new Proxy(memory, {
        get(target, name) {
          if (name === "readPinned")
            return async (hash: string) => (hash === bad.graph ? undefined : target.readPinned(hash));
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      }),
    });
    expect(await next.host.recover()).toEqual({ resumed: 1 });
    await next.host.settled(good.id);

    expect(await next.recordOf(good.id)).toMatchObject({ status: "completed" });
    expect(await next.recordOf(bad.id)).toMatchObject({ status: "running" });
    expect(next.defects).toMatchObject([{ code: "JOURNAL_DAMAGED" }]);
  });

  test("a step that was in flight three times when the process died is POISON", async () => {
    let world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(once);
    await quiet();
    for (let crash = 1; crash < 3; crash += 1) {
      world = world.next();
      await world.host.recover();
      await quiet();
    }
    const last = world.next();
    await last.host.recover();
    expect(await last.host.settled(id)).toMatchObject({ status: "failed", error: { code: "POISON" } });
  });

  test("a second run with an id that is taken is refused, and the first is left alone", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    await world.start(once, {}, { runId: "r" });
    await expect(world.start(once, {}, { runId: "r" })).rejects.toMatchObject({ code: "RUN_ID_TAKEN" });
    expect(world.host.driving).toBe(1);
  });
});

describe("what must happen after the end", () => {
  const stores = (storagePath: ReturnType<typeof literal>) =>
    toGraph([task("a", { input: literal(7) })], { ending: { storagePath } });

  test("the outputs are stored, and the run is settled when they are", async () => {
    const world = new World();
    const { id } = await world.run(stores(text("out/", path("run.id"), ".json")));
    const stored = await world.files.read(`out/${id}.json`);
    expect(JSON.parse(new TextDecoder().decode(stored))).toEqual({ a: 7 });
    expect(await world.journal.readOutbox({ limit: 9 })).toEqual([]);
  });

  test.each([literal("../out.json"), literal(null), path("steps.gone")])(
    "a path that cannot be is on the run's record; the run has ended as it did",
    async (at) => {
      const world = new World();
      expect(await world.run(stores(at))).toMatchObject({
        status: "completed",
        error: { code: "STORAGE_PATH_INVALID" },
      });
      expect(await world.run(stores(literal("fine.json")))).toMatchObject({ status: "completed" });
      expect(await world.files.read("fine.json")).toBeDefined();
    },
  );

  test("one that fails is reported and is not in the way of others; it is tried again with the next start", async () => {
    const world = new World({ plays: { a: () => succeed("x".repeat(100_000)) } });
    let isLost = true;
    const blobs = world.blobs;
    const host = world.next({
      blobs: {
        put: (content) => blobs.put(content),
        get: (sha256) => blobs.get(isLost ? "0".repeat(64) : sha256),
        list: () => blobs.list(),
        remove: (sha256) => blobs.remove(sha256),
      },
      host: { cacheBytes: 0 },
    });
    await host.run(stores(literal("first.json")));
    isLost = false;
    await host.run(stores(literal("second.json")));
    expect(host.defects).toMatchObject([{ code: "BLOB_MISSING" }]);
    expect([await host.files.read("first.json"), await host.files.read("second.json")]).toMatchObject([
      undefined,
      expect.anything(),
    ]);

    const next = host.next({ blobs });
    await next.host.recover();
    expect(await host.files.read("first.json")).toBeDefined();
  });

  test("a storage that fails is tried again after five seconds", async () => {
    const world = new World();
    let failures = 1;
    const { files } = world;
    const next = world.next({
      files: {
        read: (at) => files.read(at),
        list: (at) => files.list(at),
        remove: (at) => files.remove(at),
        write: async (at, content) => {
          failures -= 1;
          if (failures >= 0) throw new PawlError("JOURNAL_FULL", { message: "No room." });
          await files.write(at, content);
        },
      },
    });
    await next.run(stores(literal("out.json")));
    expect(await files.read("out.json")).toBeUndefined();
    await next.clock.advance(5_000);
    expect(await files.read("out.json")).toBeDefined();
  });
});

describe("executors", () => {
  test("are looked up once per run and kind, also by a fan-out", async () => {
    let lookups = 0;
    const world = new World({
      host: {
        findExecutor: async () => {
          lookups += 1;
          return { recordsInput: false, run: async () => succeed(1) };
        },
      },
    });
    const graph = toGraph([task("a", { each: { list: path("input.list"), maxConcurrent: 10 } })]);
    await world.run(graph, { list: [1, 2, 3, 4, 5] });
    expect(lookups).toBe(1);
  });

  test("that throw at once fail the step", async () => {
    const world = new World({
      host: {
        findExecutor: async () => ({
          recordsInput: false,
          run: () => {
            throw new Error("at once");
          },
        }),
      },
    });
    expect(await world.run(toGraph([task("a", { timeoutMs: 1_000 })]))).toMatchObject({
      status: "failed",
      error: { code: "EXECUTOR_FAULT" },
    });
    expect(world.clock.armed).toBe(0);
  });
});
