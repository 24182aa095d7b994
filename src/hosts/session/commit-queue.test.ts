import { describe, expect, test } from "vitest";
import { quiet } from "../../../test/fakes/fake-clock.ts";
import { literal, path, task, toGraph } from "../../../test/faults/graphs.ts";
import { journalWith, succeed, World } from "../../../test/faults/world.ts";
import { MemoryJournal } from "../../../test/support/memory/memory-journal.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Append } from "../../ports/journal.ts";
import { EVERY_RUN } from "../run-host.ts";

const once = toGraph([task("a")]);

const pair = toGraph([task("a"), task("b", { after: ["a"] })]);

const waitsForSignal = toGraph([
  { kind: "wait", id: "w", wait: { for: "event", name: literal("go") } },
  task("after", { after: ["w"], input: path("steps.w") }),
]);

const twoAtOnce = () => Object.assign(new MemoryJournal(), { commitsAtOnce: 2 });

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

  test("a journal that takes two at once gets the runs in two, and each run is in one of them", async () => {
    const sizes: number[] = [];
    let most = 0;
    const writing = new Set<number>();
    const journal = journalWith(twoAtOnce(), async (entries, append) => {
      sizes.push(entries.length);
      for (const { run } of entries) expect(writing.has(run)).toBe(false);
      for (const { run } of entries) writing.add(run);
      most = Math.max(most, writing.size);
      await new Promise((resolve) => setImmediate(resolve));
      for (const { run } of entries) writing.delete(run);
      return append(entries);
    });
    const world = new World({ journal });
    const runs = await Promise.all(Array.from({ length: 100 }, () => world.start(pair)));
    const records = await Promise.all(runs.map(({ id }) => world.host.settled(id)));

    expect(records.every(({ status }) => status === "completed")).toBe(true);
    expect(sizes.slice(0, 2)).toEqual([50, 50]);
    expect(most).toBe(100);
  });

  test("one of two commits that fails is tried again, and holds up the runs of the other for nothing", async () => {
    const failing = new Set<number>();
    const journal = journalWith(twoAtOnce(), async (entries, append) => {
      if (failing.size === 0) for (const { run } of entries) failing.add(run);
      if (entries.some(({ run }) => failing.has(run)) && isAway) {
        throw new PawlError("JOURNAL_IO", { message: "The server is away." });
      }
      return append(entries);
    });
    let isAway = true;
    const world = new World({ journal });
    const ended: string[] = [];
    const starting = Array.from({ length: 40 }, async () => {
      const { id } = await world.start(once);
      ended.push((await world.host.settled(id)).status);
    });
    await quiet();
    expect(ended).toHaveLength(20);

    isAway = false;
    await world.clock.advance(500);
    await Promise.all(starting);
    expect(ended).toEqual(new Array(40).fill("completed"));
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

  test("a commit that stalls and is then found to be a defect stalls nobody any longer", async () => {
    const failures = [new PawlError("JOURNAL_FULL", { message: "No room." }), new TypeError("defect")];
    const journal = journalWith(new MemoryJournal(), async (entries, append) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return append(entries);
    });
    const world = new World({ journal });
    const told: string[] = [];
    world.host.watch(EVERY_RUN, ({ type }) => told.push(type));
    const starting = expect(world.start(once)).rejects.toMatchObject({ code: "OWNER_GONE" });
    await world.clock.advance(500);
    await starting;
    expect(told).toEqual(["stalled", "unstalled"]);
  });

  test("a journal that comes back after a long time is written again within half a second", async () => {
    let isAway = true;
    const journal = journalWith(new MemoryJournal(), async (entries, append) => {
      if (isAway) throw new PawlError("JOURNAL_IO", { message: "The server is away." });
      return append(entries);
    });
    const world = new World({ journal });
    const starting = world.start(once);
    await world.clock.advance(60_000);
    isAway = false;
    await world.clock.advance(500);
    const { id } = await starting;
    expect((await world.host.settled(id)).status).toBe("completed");
  });

  test("a run that somebody else has written to is discarded, and goes on from what is on the disk", async () => {
    const memory = new MemoryJournal();
    const world = new World({ journal: memory, plays: { a: () => succeed("mine") } });
    const { id, no, lastSeq } = await world.run(waitsForSignal);
    await world.host.request(id, { type: "resume" });
    const foreign = world.next();
    await foreign.host.request(id, { type: "signal", name: "go", payload: "theirs" });
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
        await foreign.host.request("r", { type: "signal", name: "go", payload: "theirs" });
      }
      return append(entries);
    });
    const world = new World({ journal });
    await world.run(waitsForSignal, {}, { runId: "r" });
    isLate = true;
    await expect(world.host.request("r", { type: "signal", name: "go", payload: "mine" })).rejects.toMatchObject({
      code: "OWNER_GONE",
    });

    await quiet();
    await world.host.request("r", { type: "resume" });
    await world.host.settled("r");
    expect(await world.outputOf("r", "after")).toBe("theirs");
    expect(world.defects).toHaveLength(1);
  });
});
