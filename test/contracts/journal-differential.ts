import fc from "fast-check";
import { expect } from "vitest";
import { parseExact, writeExact } from "../../src/core/exact-json.ts";
import type { Event } from "../../src/core/history/events.ts";
import type { Append, ClaimedRun, Journal, NewEvent, RunPatch, RunRecord, RunStatus } from "../../src/ports/journal.ts";
import { rounds } from "../properties/rounds.ts";
import { openMemoryJournal } from "../support/memory/open-memory-journal.ts";
import { newRun, readWholeLog } from "./journal-samples.ts";

/** What happens to a journal, with numbers that make sense only against what is there: a few runs, near misses. */
type Operation =
  | { readonly type: "append"; readonly entries: readonly RandomEntry[] }
  | { readonly type: "reserve" }
  | { readonly type: "release" | "claim"; readonly run: number }
  | { readonly type: "claimDue"; readonly now: number; readonly afterRun: number; readonly limit: number }
  | { readonly type: "finishOutbox"; readonly nth: readonly number[] };

interface RandomEntry {
  readonly run: number;
  /** Added to the run's last number. */
  readonly miss: number;
  /** The id to create the run with, where it is not there yet (or even so). */
  readonly create: string | undefined;
  readonly createAnyway: boolean;
  readonly events: readonly NewEvent[];
  readonly patch: RunPatch | undefined;
  readonly outbox: readonly { readonly kind: string; readonly body: string }[];
  readonly pins: readonly { readonly hash: string; readonly text: string }[];
}

const STATUSES: readonly RunStatus[] = ["queued", "running", "waiting", "awaiting_approval", "completed", "failed"];
const RUNS = 5;
const time = fc.integer({ min: 0, max: 9 });

/** As the host gives it: a double such as 2^53 is written like an integer, and read back as one. */
const stored = fc.jsonValue().map((value): unknown => parseExact(writeExact(value)));

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ type: fc.constant("stepStarted" as const), at: time, path: fc.string(), attempt: fc.nat(3) }),
  fc.record(
    {
      type: fc.constant("stepSucceeded" as const),
      at: time,
      path: fc.string(),
      attempt: fc.nat(3),
      costMicro: fc.nat(),
      usage: fc.dictionary(fc.string(), fc.nat()),
      decided: fc.array(stored, { maxLength: 2 }) as fc.Arbitrary<readonly null[]>,
    },
    { requiredKeys: ["type", "at", "path", "attempt"] },
  ),
  fc.record({ type: fc.constant("timerFired" as const), at: time, timer: fc.string() }),
);

const patch: fc.Arbitrary<RunPatch> = fc.record(
  {
    status: fc.constantFrom(...STATUSES),
    wakeAt: fc.option(time),
    parked: fc.boolean(),
    costMicro: fc.nat(9),
    uncertainMicro: fc.option(fc.nat(9)),
    openApprovals: fc.nat(3),
    storedBytes: fc.nat(9),
    startedAt: time,
    completedAt: time,
    error: fc.option(fc.record({ code: fc.string(), message: fc.string() })),
  },
  { requiredKeys: [] },
);

const entry: fc.Arbitrary<RandomEntry> = fc.record({
  run: fc.integer({ min: 1, max: RUNS }),
  miss: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, -1),
  create: fc.option(fc.constantFrom("a", "ab", "abc", "b", "bä"), { nil: undefined }),
  createAnyway: fc.constantFrom(false, false, false, true),
  events: fc.array(fc.record({ event, value: fc.json() }, { requiredKeys: ["event"] }), { maxLength: 4 }),
  patch: fc.option(patch, { nil: undefined }),
  outbox: fc.array(fc.record({ kind: fc.constantFrom("webhook", "storage"), body: fc.json() }), { maxLength: 2 }),
  pins: fc.array(fc.record({ hash: fc.constantFrom("x", "y"), text: fc.string() }), { maxLength: 2 }),
});

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constant("append" as const), entries: fc.array(entry, { maxLength: 5 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("reserve" as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("finishOutbox" as const), nth: fc.array(fc.nat(8)) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("release" as const, "claim" as const),
      run: fc.integer({ min: 1, max: RUNS }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("claimDue" as const),
      now: time,
      afterRun: fc.nat(RUNS),
      limit: fc.integer({ min: 1, max: RUNS }),
    }),
  },
);

/** Answers every sequence of operations as the reference in memory does. What is told apart by numbers that only one journal knows is compared without them. */
export async function compareWithMemory(open: () => Promise<Journal>): Promise<void> {
  const property = fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
    const memory = openMemoryJournal();
    const journal = await open();
    try {
      for (const step of operations) {
        const entries = step.type === "append" ? await toEntries(step.entries, memory) : [];
        expect(await perform(journal, step, entries)).toEqual(await perform(memory, step, entries));
      }
      expect(await snapshot(journal)).toEqual(await snapshot(memory));
    } finally {
      await journal.close();
    }
  });
  await fc.assert(property, { numRuns: rounds(38), endOnFailure: true });
}

async function toEntries(random: readonly RandomEntry[], memory: Journal): Promise<readonly Append[]> {
  const lastSeqs = new Map<number, number>();
  const entries: Append[] = [];
  for (const { run, miss, create, createAnyway, events, patch, outbox, pins } of random) {
    const known = lastSeqs.get(run) ?? (await memory.readRun(run))?.lastSeq;
    const afterSeq = Math.max(0, (known ?? 0) + miss);
    const creates = create !== undefined && (known === undefined || createAnyway);
    entries.push({
      run,
      afterSeq,
      events,
      outbox,
      pins,
      ...(creates && { create: newRun(create) }),
      ...(patch && { patch }),
    });
    lastSeqs.set(run, afterSeq + events.length);
  }
  return entries;
}

/** Why an entry is refused is told in words of the journal's own. */
async function perform(journal: Journal, step: Operation, entries: readonly Append[]): Promise<unknown> {
  switch (step.type) {
    case "append":
      for (const { run } of entries) await journal.claim(run);
      return (await journal.append(entries)).map((result) => (result.ok ? "ok" : result.reason));
    case "reserve":
      return typeof (await journal.reserveRun());
    case "release":
      return journal.release([step.run]);
    case "claim":
      return withoutLoss(await journal.claim(step.run));
    case "claimDue":
      return (await journal.claimDue(step)).map(withoutLoss);
    case "finishOutbox": {
      const open = await journal.readOutbox({ limit: 50 });
      return journal.finishOutbox(step.nth.flatMap((n) => open[n]?.id ?? []));
    }
  }
}

function withoutLoss(run: ClaimedRun | undefined): RunRecord | undefined {
  if (run === undefined) return undefined;
  const { lostAt: _, ...record } = run;
  return record;
}

async function snapshot(journal: Journal): Promise<unknown> {
  const runs = Array.from({ length: RUNS }, (_, index) => index + 1);
  return {
    runs: await Promise.all(runs.map((run) => journal.readRun(run))),
    events: await Promise.all(runs.map((run) => journal.readEvents(run, { afterSeq: 0, limit: 1_000 }))),
    tails: await Promise.all(runs.map((run) => journal.readEvents(run, { afterSeq: 2, limit: 2 }))),
    values: await Promise.all(runs.map(async (run) => [...(await journal.readValues(run, [1, 2, 3, 4, 5, 6]))])),
    found: await Promise.all(["", "a", "ab", "abc", "b", "c"].map((prefix) => journal.findRun(prefix))),
    listed: await Promise.all(
      [
        {},
        { status: STATUSES },
        { status: STATUSES.slice(0, 2), beforeRun: 4 },
        { createdFrom: 0, createdBefore: 5 },
      ].map((filter) => journal.listRuns({ ...filter, limit: 3 })),
    ),
    log: await readWholeLog(journal, { limit: 3 }),
    newest: (await journal.findCommit()) === undefined,
    approvals: [await journal.countApprovals(), await journal.listRuns({ hasApprovals: true, limit: 3 })],
    counted: await Promise.all([{}, { status: STATUSES.slice(0, 2) }].map((each) => journal.countRuns(each))),
    byStatus: [...(await journal.countRunsByStatus({}))].sort(),
    nextWakeAt: await journal.release(runs).then(() => journal.nextWakeAt()),
    pins: [await journal.readPinned("x"), await journal.readPinned("y")],
    outbox: [await journal.readOutbox({ limit: 50 }), await journal.readOutbox({ limit: 2, kind: "storage" })].map(
      (entries) => entries.map(({ id: _, ...entry }) => entry),
    ),
  };
}
