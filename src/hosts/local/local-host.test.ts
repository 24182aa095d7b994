import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/contracts/temporary-folder.ts";
import { quiet } from "../../../test/fakes/fake-clock.ts";
import { literal, path, task, toGraph } from "../../../test/faults/graphs.ts";
import { fail, journalWith, send, succeed, untilAborted, World } from "../../../test/faults/world.ts";
import { MemoryJournal } from "../../../test/support/memory/memory-journal.ts";
import type { SettleCall } from "../../ports/executor.ts";
import { openSqliteJournal } from "../../storage/sqlite/sqlite-journal.ts";

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

    await world.host.request(first.id, { type: "signal", name: "go", payload: 1 });
    await world.host.request(second.id, { type: "answer", path: "ok", answer: { answer: "approve" } });
    expect(await world.host.settled(first.id)).toMatchObject({ status: "completed" });
    expect(await world.host.settled(second.id)).toMatchObject({ status: "completed" });
  });

  test("are not kept in memory by who asks in vain", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    await expect(
      world.host.request(id, { type: "answer", path: "nowhere", answer: { answer: "approve" } }),
    ).rejects.toMatchObject({
      code: "APPROVAL_NOT_OPEN",
    });
    await world.host.request(id, { type: "resume" });
    expect(world.host.driving).toBe(0);
  });

  test("are not read by a host that starts", async () => {
    const journal = openSqliteJournal({ path: join(temporaryFolder(), "pawl.db"), durability: "process" });
    onTestFinished(() => journal.close());
    const readEvents = vi.spyOn(journal, "readEvents");
    const world = new World({ journal });
    const runs = await Promise.all(Array.from({ length: 100 }, () => world.start(approval)));
    await Promise.all(runs.map(({ id }) => world.host.settled(id)));
    expect(world.host.driving).toBe(0);
    const next = world.next();
    expect(await next.host.recover()).toEqual({ resumed: 0 });
    expect(next.host.driving).toBe(0);
    expect(readEvents).not.toHaveBeenCalled();
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
    const answering = next.host.request(id, {
      type: "answer",
      path: "ok",
      answer: { answer: "approve", edited: large },
    });
    await quiet();
    // The run is loaded for this one, and leaves memory again before the other is stored.
    await next.host.request(id, { type: "signal", name: "other", payload: 1 });
    await quiet();
    slowBlobs.resolve();
    await answering;
    await next.host.request(id, { type: "signal", name: "go", payload: large });

    expect(await next.host.settled(id)).toMatchObject({ status: "completed" });
    expect(await next.typesOf(id)).toEqual(expect.arrayContaining(["approvalAnswered", "signalReceived"]));
  });
});

describe("answers to an approval", () => {
  test("of two at once one wins, and the other is told who was first", async () => {
    const world = new World();
    const { id } = await world.run(approval);
    const answers = await Promise.allSettled([
      world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve", by: "ann" } }),
      world.host.request(id, { type: "answer", path: "ok", answer: { answer: "reject", by: "bob" } }),
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
        world.host.request(id, {
          type: "answer",
          path: "ok",
          answer: {
            answer: "approve",
            by: `p${n}`,
            ...(n % 2 === 0 ? {} : { edited: "x".repeat(n * 1_000) }),
          },
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
    await world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve", by: "ann" } });
    await world.host.settled(id);
    await expect(
      world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } }),
    ).rejects.toMatchObject({
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
    const answering = world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } });
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

  test("stops running tasks and ends the run", async () => {
    const world = new World({ plays: { a: flying } });
    const { id } = await world.start(pair);
    await quiet();
    await world.host.request(id, { type: "cancel", by: "ann" });
    await quiet();

    expect(await world.recordOf(id)).toMatchObject({ status: "cancelled", completedAt: expect.any(Number) });
    expect(world.calls).toHaveLength(1);
  });

  test("a second time ends the run without waiting for running tasks", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(pair);
    await quiet();
    await world.host.request(id, { type: "cancel" });
    await quiet();
    expect(await world.recordOf(id)).toMatchObject({ status: "running" });
    await world.host.request(id, { type: "cancel" });
    await quiet();

    expect(await world.recordOf(id)).toMatchObject({ status: "cancelled" });
    expect(world.host.driving).toBe(0);
  });

  test("against the end: whichever is first, the caller is told and the run ends once", async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const world = new World();
      const { id } = await world.start(once);
      await quiet(turns);
      const [cancelled] = await Promise.allSettled([world.host.request(id, { type: "cancel" }), quiet()]);
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
    const cancelling = world.host.request(id, { type: "cancel" });
    cancelling.catch(() => undefined);
    await quiet();
    hold = false;
    letGo();
    await expect(cancelling).rejects.toMatchObject({ code: "RUN_FINISHED" });
    expect(await world.recordOf(id)).toMatchObject({ status: "completed", completedAt: expect.any(Number) });
    expect(world.defects).toEqual([]);
  });

  test("that ends while it is asked something says so, and not that it is elsewhere", async () => {
    const journal = new MemoryJournal();
    const world = new World({ journal, plays: { a: async () => succeed(1) } });
    const { id } = await world.start(once);
    await quiet();
    const ended = await world.recordOf(id);
    const { completedAt, ...running } = ended;
    expect(completedAt).toEqual(expect.any(Number));
    // The record as it was read a moment before the end.
    vi.spyOn(journal, "findRun").mockResolvedValueOnce({ ...running, status: "running" });
    // As a database answers.
    vi.spyOn(journal, "claim").mockResolvedValueOnce(undefined);
    await expect(world.host.request(id, { type: "cancel" })).rejects.toMatchObject({ code: "RUN_FINISHED" });
  });

  test("closes the record: what an executor still reports comes too late, and harms nothing", async () => {
    let settle: SettleCall = () => {};
    const world = new World({
      plays: {
        a: async (call) => {
          settle = await send(call, 5);
          return new Promise(() => undefined);
        },
      },
      host: {
        env: () => {
          // In the very moment between the end and its commit.
          queueMicrotask(() => settle(5));
          return "http://127.0.0.1:9/hook";
        },
      },
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a definition names a variable.
    const { id } = await world.start(toGraph([task("a")], { ending: { failureWebhook: "${HOOK}" } }));
    await quiet();
    await world.host.request(id, { type: "cancel" });
    await world.host.request(id, { type: "cancel" });
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
      next.host.request(id, { type: "cancel" }),
      next.host.request(id, { type: "resume" }),
      next.host.request(id, { type: "resume" }),
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

  test("of a run that ends while commands of it wait for their turn comes with its end", async () => {
    const hold = () => {
      const begin = performance.now();
      while (performance.now() - begin < 6);
      return fail("BROKEN");
    };
    const world = new World({ plays: { a: hold } });
    const all = toGraph([task("a", { each: { list: literal(new Array(100).fill(0)), maxConcurrent: 100 } })]);
    expect(await world.run(all)).toMatchObject({ status: "failed" });
  });

  test("waits for a run that is just being taken up", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    const { id } = await world.start(once);
    await quiet();
    const next = world.next({ plays: { a: () => succeed(1) } });
    const [, record] = await Promise.all([
      next.host.recover(),
      next.host.request(id, { type: "resume" }).then(() => next.host.settled(id.slice(0, 20))),
    ]);
    expect(record.status).toBe("completed");
  });
});

describe("laying runs down", () => {
  const never = new AbortController().signal;

  test("gives running tasks back; they go on later without a crash being counted", async () => {
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
    await expect(
      world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } }),
    ).rejects.toMatchObject({
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

  test("a second run with an id that is taken is refused, and the first is left alone", async () => {
    const world = new World({ plays: { a: () => new Promise(() => undefined) } });
    await world.start(once, {}, { runId: "r" });
    await expect(world.start(once, {}, { runId: "r" })).rejects.toMatchObject({ code: "RUN_ID_TAKEN" });
    expect(world.host.driving).toBe(1);
  });
});
