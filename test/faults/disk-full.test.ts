import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PawlError } from "../../src/core/errors/pawl-error.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import type { RunNotice } from "../../src/hosts/run-host.ts";
import type { Blobs } from "../../src/ports/blobs.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { FileBlobs } from "../../src/storage/files/file-blobs.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { quiet } from "../fakes/fake-clock.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { path, task, toGraph } from "./graphs.ts";
import { journalWith, type Play, succeed, World } from "./world.ts";

const STEPS = 30;

/** Steps one after another, each with an output of 20 KB that the next one gets. */
function sequence(): Graph {
  return toGraph(
    Array.from({ length: STEPS }, (_, n) =>
      task(`s${n}`, n === 0 ? {} : { after: [`s${n - 1}`], input: path(`steps.s${n - 1}`) }),
    ),
  );
}

const bulky: Play = ({ stepId, input }) => {
  const before = typeof input === "string" ? Number(input.slice(0, 6)) : 0;
  return succeed(`${String(before + 1).padStart(6, "0")} ${stepId} ${"x".repeat(20_000)}`);
};

const plays = Object.fromEntries(Array.from({ length: STEPS }, (_, n) => [`s${n}`, bulky]));

function stallsOf(notices: readonly RunNotice[]): readonly string[] {
  return notices.flatMap((notice) =>
    notice.type === "stalled" ? [notice.code] : notice.type === "unstalled" ? ["unstalled"] : [],
  );
}

/** A journal behind which another can take its place: the disk got more room. */
class ReplaceableJournal {
  current: Journal;

  constructor(first: Journal) {
    this.current = first;
  }

  asJournal(): Journal {
    return new Proxy(this.current, {
      get: (_, name) => {
        const member: unknown = Reflect.get(this.current, name, this.current);
        return typeof member === "function" ? member.bind(this.current) : member;
      },
    });
  }
}

test("while the disk is full nothing is performed; with room again the run goes on to the right end", async () => {
  const file = join(temporaryFolder(), "pawl.db");
  const replaceable = new ReplaceableJournal(openSqliteJournal({ path: file, durability: "process", maxPages: 90 }));
  onTestFinished(() => replaceable.current.close());
  const world = new World({ journal: replaceable.asJournal(), plays });
  const notices = world.notices("r");
  await world.start(sequence(), {}, { runId: "r" });
  await quiet(400);

  const performed = world.calls.length;
  expect(performed).toBeGreaterThan(3);
  expect(performed).toBeLessThan(STEPS);
  expect(stallsOf(notices)).toEqual(["JOURNAL_FULL"]);

  await world.clock.advance(60_000);
  expect(world.calls).toHaveLength(performed);
  // It is tried again after 50 ms, then after twice as long each time, four times, and from then on every 0.5 s.
  expect(stallsOf(notices)).toHaveLength(1 + 4 + 118);

  await replaceable.current.close();
  replaceable.current = openSqliteJournal({ path: file, durability: "process" });
  // The tries are 0.75 s and then each 0.5 s after the first.
  await world.clock.advance(249);
  expect(world.calls).toHaveLength(performed);
  await world.clock.advance(1);
  await quiet(400);

  expect(stallsOf(notices).at(-1)).toBe("unstalled");
  expect(await world.recordOf("r")).toMatchObject({ status: "completed" });
  expect(String(await world.outputOf("r", `s${STEPS - 1}`)).slice(0, 6)).toBe(String(STEPS).padStart(6, "0"));
  expect(world.calls).toHaveLength(STEPS);
});

test("a disk that fails some times and then works has cost nothing but time", async () => {
  let failures = 3;
  const appended: number[] = [];
  const journal = journalWith(new MemoryJournal(), async (entries, append) => {
    failures -= 1;
    if (failures >= 0) throw new PawlError("JOURNAL_IO", { message: "No such luck." });
    appended.push(entries.length);
    return append(entries);
  });
  const world = new World({ journal, plays });
  const starting = world.start(sequence(), {}, { runId: "r" });
  await quiet();
  expect(world.calls).toHaveLength(0);

  await world.clock.advance(15_000);
  await starting;
  await world.host.settled("r");
  expect(await world.recordOf("r")).toMatchObject({ status: "completed" });
  expect(world.calls).toHaveLength(STEPS);
});

test("an output that finds no room in the blob store waits for it; the step is neither lost nor done twice", async () => {
  const memory = new MemoryBlobs();
  let isFull = true;
  const world = new World({
    plays: { a: () => succeed("x".repeat(100_000), 7) },
    blobs: {
      put: async (content) => {
        if (isFull) throw new PawlError("JOURNAL_FULL", { message: "No room." });
        return memory.put(content);
      },
      get: (sha256) => memory.get(sha256),
      list: () => memory.list(),
      remove: (sha256) => memory.remove(sha256),
    },
  });
  const notices = world.notices("r");
  await world.start(toGraph([task("a", { atMostOnce: true })]), {}, { runId: "r" });
  await world.clock.advance(11_000);
  expect(stallsOf(notices).length).toBeGreaterThan(2);
  expect(new Set(stallsOf(notices))).toEqual(new Set(["JOURNAL_FULL"]));
  expect(await world.recordOf("r")).toMatchObject({ status: "running" });

  isFull = false;
  await world.clock.advance(5_000);
  expect(stallsOf(notices).at(-1)).toBe("unstalled");
  expect(await world.recordOf("r")).toMatchObject({ status: "completed", costMicro: 7 });
  expect(world.calls).toHaveLength(1);
});

test("a host whose blobs find no room can still be parked; the step is done again", async () => {
  const memory = new MemoryBlobs();
  const full: Blobs = {
    put: async () => {
      throw new PawlError("JOURNAL_FULL", { message: "No room." });
    },
    get: (sha256) => memory.get(sha256),
    list: () => memory.list(),
    remove: (sha256) => memory.remove(sha256),
  };
  const world = new World({ blobs: full, plays: { a: () => succeed("x".repeat(100_000)) } });
  await world.start(toGraph([task("a")]), {}, { runId: "r" });
  await quiet();
  await world.host.park(new AbortController().signal);
  expect(world.clock.armed).toBe(0);

  const next = world.next({ blobs: memory });
  await next.host.recover();
  expect(await next.host.settled("r")).toMatchObject({ status: "completed" });
  expect(next.calls).toHaveLength(1);
});

test("a host that cannot write can still be parked; the next one goes on", async () => {
  const memory = new MemoryJournal();
  let isFull = false;
  const journal = journalWith(memory, async (entries, append) => {
    if (isFull) throw new PawlError("JOURNAL_FULL", { message: "No room." });
    return append(entries);
  });
  const world = new World({
    journal,
    plays: {
      ...plays,
      s5: (call, signal) => {
        isFull = true;
        return bulky(call, signal);
      },
    },
  });
  await world.start(sequence(), {}, { runId: "r" });
  await quiet(100);
  await world.host.park(new AbortController().signal);
  expect(world.host.driving).toBe(0);
  expect(world.clock.armed).toBe(0);

  isFull = false;
  const next = world.next({ plays });
  await next.host.recover();
  expect(await next.host.settled("r")).toMatchObject({ status: "completed" });
  expect(String(await next.outputOf("r", `s${STEPS - 1}`)).slice(0, 6)).toBe(String(STEPS).padStart(6, "0"));
});

test("a journal that stalls does not keep the host busy: a timer that cannot be written rings once", async () => {
  const memory = new MemoryJournal();
  let isFull = false;
  let looks = 0;
  const inner = journalWith(memory, async (entries, append) => {
    if (isFull) throw new PawlError("JOURNAL_FULL", { message: "No room." });
    return append(entries);
  });
  const journal: Journal = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (name === "claimDue") looks += 1;
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const world = new World({ journal });
  const graph = toGraph([
    { kind: "wait", id: "w", wait: { for: "duration", durationMs: { op: "literal", value: 20_000 } } },
  ]);
  const { id } = await world.start(graph);
  await quiet();
  isFull = true;
  await world.clock.advance(30_000);
  expect(looks).toBeLessThan(200);
  isFull = false;
  await world.clock.advance(5_000);
  expect(await world.recordOf(id)).toMatchObject({ status: "completed" });
});

test("on a file system that is really full the run stands still, and ends when there is room", async (context) => {
  const folder = join(temporaryFolder(), "small");
  mkdirSync(folder);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    context.skip(`A small file system cannot be mounted here: ${String(error)}`);
  }
  onTestFinished(() => {
    execFileSync("umount", ["-l", folder], { stdio: "pipe" });
  });
  const journal = openSqliteJournal({ path: join(folder, "pawl.db"), durability: "power" });
  onTestFinished(() => journal.close());
  writeFileSync(join(folder, "ballast"), Buffer.alloc(600_000));
  const world = new World({ journal, blobs: new FileBlobs(join(folder, "blobs")), plays });
  const notices = world.notices("r");
  await world.start(sequence(), {}, { runId: "r" });
  await quiet(400);
  const performed = world.calls.length;
  expect(performed).toBeLessThan(STEPS);
  expect(stallsOf(notices)[0]).toMatch(/^JOURNAL_(FULL|IO)$/);
  await world.clock.advance(20_000);
  expect(world.calls).toHaveLength(performed);

  rmSync(join(folder, "ballast"));
  execFileSync("mount", ["-o", "remount,size=16m", folder], { stdio: "pipe" });
  await world.clock.advance(5_000);
  await quiet(400);
  expect(await world.recordOf("r")).toMatchObject({ status: "completed" });
  expect(String(await world.outputOf("r", `s${STEPS - 1}`)).slice(0, 6)).toBe(String(STEPS).padStart(6, "0"));
});
