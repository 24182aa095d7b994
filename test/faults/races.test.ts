import { expect, test } from "vitest";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import { quiet } from "../fakes/fake-clock.ts";
import { rounds } from "../properties/rounds.ts";
import { Random } from "../simulation/random.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { literal, path, task, toGraph } from "./graphs.ts";
import { fail, journalWith, succeed, untilAborted, World } from "./world.ts";

const graph = toGraph([
  { kind: "approve", id: "ok", message: literal("?"), allowEdit: true },
  { kind: "wait", id: "event", wait: { for: "event", name: literal("go") } },
  { kind: "wait", id: "pause", wait: { for: "duration", durationMs: literal(15_000) } },
  task("work", { after: ["ok"], input: path("steps.ok") }),
  task("last", { after: ["event", "pause", "work"], input: path("steps.event") }),
]);

const RUNS = 8;
const OPERATIONS = 120;

/** Who is told that something was done finds it in the record; who is told no gets an error that has a code. */
test.each(Array.from({ length: rounds(1) }, (_, seed) => seed))(
  "whatever comes in while runs leave memory and return is kept or refused, and every run ends (seed %i)",
  async (seed) => {
    const random = new Random(seed);
    const memory = new MemoryBlobs();
    const journal = journalWith(new MemoryJournal(), async (entries, append) => {
      await quiet(random.int(0, 3));
      return append(entries);
    });
    const world = new World({
      journal,
      blobs: {
        put: async (content) => {
          await quiet(random.int(0, 8));
          return memory.put(content);
        },
        get: (sha256) => memory.get(sha256),
        list: () => memory.list(),
        remove: (sha256) => memory.remove(sha256),
      },
      plays: {
        work: async (call, signal) => {
          await quiet(random.int(0, 5));
          if (random.chance(0.2)) await call.record("half", 1);
          return signal.aborted ? fail("STOPPED") : succeed(call.input);
        },
        last: (_, signal) => (random.chance(0.1) ? untilAborted(signal).then(() => fail("STOPPED")) : succeed(1)),
      },
    });
    const runIds = Array.from({ length: RUNS }, (_, n) => `run-${n}`);
    await Promise.all(runIds.map((runId) => world.start(graph, {}, { runId })));

    const kept = new Map<string, number>();
    const under = async (what: string, work: Promise<unknown>) => {
      try {
        await work;
        kept.set(what, (kept.get(what) ?? 0) + 1);
      } catch (error) {
        if (!isPawlError(error)) throw error;
      }
    };
    const operations: Promise<void>[] = [];
    for (let n = 0; n < OPERATIONS; n += 1) {
      const runId = random.pick(["run-0", ...runIds]);
      const payload = random.chance(0.5) ? "small" : "x".repeat(70_000);
      const { host } = world;
      const choice = random.share();
      if (choice < 0.3)
        operations.push(under(`${runId} signalReceived`, host.request(runId, { type: "signal", name: "go", payload })));
      else if (choice < 0.55) {
        const edited = random.chance(0.5) ? { edited: payload } : {};
        operations.push(
          under(
            `${runId} approvalAnswered`,
            host.request(runId, { type: "answer", path: "ok", answer: { answer: "approve", ...edited } }),
          ),
        );
      } else if (choice < 0.7) operations.push(under("resume", host.request(runId, { type: "resume" })));
      else if (choice < 0.8) operations.push(under("recover", host.recover()));
      else if (choice < 0.85)
        operations.push(under(`${runId} cancelRequested`, host.request(runId, { type: "cancel" })));
      else if (choice < 0.95) await quiet(random.int(0, 6));
      else await world.clock.advance(random.int(0, 4_000));
    }
    await Promise.all(operations);
    for (const runId of runIds) {
      await under("", world.host.request(runId, { type: "answer", path: "ok", answer: { answer: "approve" } }));
      await under("", world.host.request(runId, { type: "signal", name: "go", payload: "at last" }));
    }
    await world.clock.advance(60_000);
    for (const runId of runIds) await under("", world.host.request(runId, { type: "cancel" }));
    await world.clock.advance(60_000);

    expect(world.defects).toEqual([]);
    expect(world.host.driving).toBe(0);
    for (const runId of runIds) {
      const types = await world.typesOf(runId);
      expect(types.at(-1)).toBe("runFinished");
      for (const type of ["approvalAnswered", "signalReceived", "cancelRequested"]) {
        const recorded = types.filter((recordedType) => recordedType === type).length;
        expect(recorded).toBeGreaterThanOrEqual(kept.get(`${runId} ${type}`) ?? 0);
      }
      expect(types.filter((type) => type === "approvalAnswered").length).toBeLessThanOrEqual(1);
    }
  },
);
