import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openServiceRecords } from "../../src/app/open-service-records.ts";
import { PawlError } from "../../src/core/errors/pawl-error.ts";
import type { Journal } from "../../src/ports/journal.ts";
import type { Budgets } from "../../src/ports/service/budgets.ts";
import { FileBlobs } from "../../src/storage/files/file-blobs.ts";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { literal, path, task, toGraph } from "./graphs.ts";
import { succeed, World } from "./world.ts";

const LARGE = "x".repeat(100_000);
const RETRY_MS = 5_000;

/** An object of which a test says what fails. */
function failing<T extends object>(whole: T, fails: (name: string | symbol) => boolean): T {
  return new Proxy(whole, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (fails(name)) throw new PawlError("JOURNAL_IO", { message: "The disk is away." });
        return member.apply(target, given);
      };
    },
  });
}

test("a step whose input cannot be read waits for it, and the run goes on when it can", async () => {
  const folder = join(temporaryFolder(), "blobs");
  const graph = toGraph([
    task("first"),
    { kind: "approve", id: "ok", after: ["first"], message: literal("?") },
    task("second", { after: ["ok"], input: path("steps.first") }),
  ]);
  const first = new World({ blobs: new FileBlobs(folder), plays: { first: () => succeed(LARGE) } });
  const { id } = await first.run(graph);
  // Another process, which has nothing of it in memory.
  const world = first.next();
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, "no folder");
  const notices = world.notices(id);
  await world.host.request(id, { type: "answer", path: "ok", answer: { answer: "approve" } });
  await expect.poll(() => notices.some(({ type }) => type === "stalled")).toBe(true);
  expect(world.calls).toEqual([]);

  renameSync(folder, `${folder}.file`);
  renameSync(`${folder}.away`, folder);
  await world.clock.advance(RETRY_MS);
  expect((await world.host.settled(id)).status).toBe("completed");
  expect(await world.outputOf(id, "second")).toBe(LARGE);
  expect(notices.some(({ type }) => type === "unstalled")).toBe(true);
  expect(world.defects).toEqual([]);
});

test("a run that cannot be read when a process starts is taken up as soon as it can be, and keeps no other waiting", async () => {
  const whole = new MemoryJournal();
  const dead = new World({ journal: whole, plays: { work: () => new Promise(() => undefined) } });
  const graph = toGraph([task("work")]);
  for (const runId of ["a", "b"]) await dead.start(graph, {}, { runId });
  await expect.poll(() => dead.calls.length).toBe(2);

  let isAway = false;
  const journal: Journal = failing(whole, (name) => isAway && name === "readEvents");
  const world = new World({ journal, clock: dead.clock });
  isAway = true;
  expect(await world.host.recover()).toEqual({ resumed: 0 });
  isAway = false;
  await world.clock.advance(RETRY_MS);
  // Nobody asks for them.
  for (const runId of ["a", "b"]) await expect.poll(async () => (await world.recordOf(runId)).status).toBe("completed");
});

test("an alarm at which the journal cannot be read rings again", async () => {
  let isAway = false;
  const journal: Journal = failing(new MemoryJournal(), (name) => isAway && name === "claimDue");
  const world = new World({ journal });
  const graph = toGraph([{ kind: "wait", id: "pause", wait: { for: "duration", durationMs: literal(60_000) } }]);
  const { id } = await world.start(graph);
  await expect.poll(() => world.host.driving).toBe(0);
  isAway = true;
  await world.clock.advance(60_000);
  expect((await world.recordOf(id)).status).toBe("waiting");
  isAway = false;
  await world.clock.advance(RETRY_MS);
  await expect.poll(async () => (await world.recordOf(id)).status).toBe("completed");
});

test("what runs have used of a budget and cannot be written down stops none of them, and is not lost", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "service.db");
  const service = openServiceRecords({ path: file, durability: "process" });
  onTestFinished(() => service.close());
  await service.budgets.put({
    id: "all",
    per: "total",
    limits: { tries: 100 },
    onExceeded: "stop",
    createdAt: 1,
    updatedAt: 1,
  });
  let isAway = false;
  const budgets: Budgets = failing(service.budgets, (name) => isAway && (name === "note" || name === "close"));
  const graph = toGraph([task("a"), task("b", { after: ["a"] }), task("c", { after: ["b"] })]);
  const world: World = new World({
    host: { openBudgets: async () => budgets },
    plays: {
      // Long enough that it is time to write down again.
      a: async () => {
        isAway = true;
        await world.clock.advance(2_000);
        return succeed(1);
      },
    },
  });
  const record = await world.run(graph);
  expect(record.status).toBe("completed");
  expect(world.defects).not.toEqual([]);

  isAway = false;
  await world.next({ host: { openBudgets: async () => budgets } }).host.recover();
  expect((await service.budgets.sum("all", "")).use.tries).toBe(3);
});
