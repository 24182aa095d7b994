import { expect, test } from "vitest";
import { Regexes } from "../../src/app/regexes.ts";
import type { Policy } from "../../src/core/graph/policy.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryJournal } from "../support/memory/memory-journal.ts";
import { type CrashPoint, crashingJournal, dieAt } from "./crashing-journal.ts";
import { path, task, toGraph } from "./graphs.ts";
import { succeed, World } from "./world.ts";

const MAIL = "ada@example.com";
/** Large enough to be no value of the journal but a blob. */
const LONG = ` ${"x".repeat(70_000)}`;
const POLICIES: readonly Policy[] = [
  { id: "hide", when: { patterns: [{ kind: "email" }] }, action: "redact" },
  { id: "review", when: { patterns: [{ kind: "email" }] }, action: "approve" },
  { id: "tell", when: { contains: ["ada"] }, action: "alert", webhook: "https://example.com/told" },
];
const GRAPH = toGraph([task("a", { policies: POLICIES }), task("b", { after: ["a"], input: path("steps.a") })]);

const regexes = new Regexes();
const host = { findAll: (text: string, pattern: string) => regexes.findAll(text, pattern) };

async function drive(world: World, edited: string | undefined): Promise<void> {
  await world.host.recover();
  const known = await world.journal.findRun("run-1");
  if (known === undefined) await world.start(GRAPH, {}, { runId: "run-1" });
  for (;;) {
    const { status, completedAt } = await world.host.settled("run-1");
    if (completedAt !== undefined) return;
    if (status !== "awaiting_approval") continue;
    const more = edited === undefined ? {} : { edited };
    await world.host.request("run-1", { type: "answer", path: "a", answer: { answer: "approve", ...more } });
  }
}

async function liveAndGoOn(crash: CrashPoint | undefined, edited?: string) {
  const disk = new MemoryJournal();
  const blobs = new MemoryBlobs();
  const died = Promise.withResolvers<void>();
  const mortal = crashingJournal(
    disk,
    dieAt(crash, () => {
      died.resolve();
      return new Promise(() => undefined);
    }),
  );
  const plays = { a: () => succeed(`Write to ${MAIL}.${LONG}`, 100) };
  const first = new World({ journal: mortal.journal, blobs, plays, host });
  await Promise.race([drive(first, edited), died.promise]);
  const asked = await countOf(first, disk, "approvalAsked");
  const next = new World({ journal: disk, blobs, plays, host });
  await drive(next, edited);
  return { first, next, disk, blobs, wasAsked: asked > 0, commits: mortal.commits() };
}

async function countOf(world: World, disk: MemoryJournal, type: string): Promise<number> {
  const isThere = (await disk.findRun("run-1")) !== undefined;
  return isThere ? (await world.typesOf("run-1")).filter((each) => each === type).length : 0;
}

/** All that was written. */
async function everythingOf(world: World, blobs: MemoryBlobs): Promise<string> {
  const { no } = await world.recordOf("run-1");
  const rows = await world.journal.readEvents(no, { afterSeq: 0, limit: 1_000 });
  const values = await Promise.all(rows.map(({ seq }) => world.journal.readValue(no, seq)));
  const outbox = await world.journal.readOutbox({ kind: "webhook", limit: 100 });
  const contents: string[] = [];
  for await (const { sha256 } of blobs.list()) contents.push(new TextDecoder().decode(await blobs.get(sha256)));
  return JSON.stringify([rows, values, outbox, contents]);
}

test.each([
  ["as it came", undefined, `Write to [email].${LONG}`],
  ["edited", "Write to bob@example.com.", "Write to [email]."],
])(
  "an output that waits for a person (%s) is judged, asked about and told once, and never written whole, wherever the process dies",
  async (_how, edited, expected) => {
    const { commits } = await liveAndGoOn(undefined, edited);
    expect(commits).toBeGreaterThan(6);
    const points = Array.from({ length: commits }, (_, n) => n + 1).flatMap((commit) => [
      { commit, when: "before" } as const,
      { commit, when: "after" } as const,
    ]);
    for (const crash of points) {
      const { first, next, disk, blobs, wasAsked } = await liveAndGoOn(crash, edited);
      const { status, costMicro } = await next.recordOf("run-1");
      const done = (world: World) => world.calls.filter(({ stepId }) => stepId === "a").length;
      const told = await disk.readOutbox({ kind: "webhook", limit: 100 });
      const counts = [await countOf(next, disk, "approvalAsked"), await countOf(next, disk, "approvalAnswered")];
      expect({ crash, status, costMicro, counts }).toEqual({
        crash,
        status: "completed",
        costMicro: 100,
        counts: [1, 1],
      });
      expect({ crash, output: await next.outputOf("run-1", "b") }).toEqual({ crash, output: expected });
      // The work that a person was asked about is not done again.
      expect({ crash, done: [done(first), done(next)] }).toEqual({
        crash,
        done: wasAsked ? [1, 0] : [expect.any(Number), 1],
      });
      expect({ crash, told: told.filter(({ body }) => body.includes("policy.alert")).length }).toEqual({
        crash,
        told: 1,
      });
      // What a person writes is in the record of the answer as it was written; what the step brought is nowhere.
      expect({ crash, isWritten: (await everythingOf(next, blobs)).includes("ada@") }).toEqual({
        crash,
        isWritten: false,
      });
      expect(next.defects).toEqual([]);
    }
  },
);

test("a rerun takes an output over as it was judged, though its definition has other policies by now; what is done again is judged by them", async () => {
  const old = new World({ plays: { a: () => succeed(`Write to ${MAIL}.`) }, host });
  const bare = toGraph([task("a"), task("b", { after: ["a"], input: path("steps.a") })]);
  const { id } = await old.run(bare);
  const rerun = async (fromPath: string) => {
    const { id: again } = await old.run(GRAPH, {}, { lineage: { kind: "rerun", run: id, fromPath }, parentRunId: id });
    return { again, record: await old.recordOf(again) };
  };
  const taken = await rerun("b");
  expect(taken.record.status).toBe("completed");
  expect(await old.outputOf(taken.again, "b")).toBe(`Write to ${MAIL}.`);
  const judged = await rerun("a");
  expect(judged.record.status).toBe("awaiting_approval");
  await old.host.request(judged.again, { type: "answer", path: "a", answer: { answer: "approve" } });
  await old.host.settled(judged.again);
  expect(await old.outputOf(judged.again, "b")).toBe("Write to [email].");
});
