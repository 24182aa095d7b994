import { describe, expect, test } from "vitest";
import { quiet } from "../../../test/fakes/fake-clock.ts";
import { path, task, text, toGraph } from "../../../test/faults/graphs.ts";
import { fail, journalWith, send, succeed, untilAborted, World } from "../../../test/faults/world.ts";
import { MemoryJournal } from "../../../test/support/memory/memory-journal.ts";
import type { Executor } from "../../ports/executor.ts";

const once = toGraph([task("a")]);

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
          const settle = await send(call, 40);
          settle(30);
          await quiet(5);
          return succeed(null, 50);
        },
      },
    });
    const { id, costMicro } = await world.run(once);
    expect(costMicro).toBe(50);
    expect(await world.typesOf(id)).toEqual(expect.arrayContaining(["costReserved", "costReported"]));
  });

  test("of a call whose executor then has a defect stay unknown, up to what was reserved", async () => {
    const world = new World({
      plays: {
        a: async (call) => {
          await send(call, 40);
          throw new TypeError("A defect.");
        },
      },
    });
    expect(await world.run(once)).toMatchObject({ status: "failed", costMicro: 0, uncertainMicro: 40 });
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
