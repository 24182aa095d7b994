import { describe, expect, onTestFinished, test } from "vitest";
import type { RunPlace } from "../../src/core/history/events.ts";
import { type Journal, LOG_BEGIN, type RunNo, type RunPatch, type ViolationFilter } from "../../src/ports/journal.ts";
import { createRun, newRun, readPaths, readWholeLog, reserveRuns, started, succeeded } from "./journal-samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface JournalUnderTest {
  open(folder: string): Promise<Journal>;
  /** False for a journal that forgets everything when it is closed. */
  readonly isDurable: boolean;
}

/** What every journal promises. */
export function describeJournalContract(name: string, { open, isDurable }: JournalUnderTest): void {
  async function openInNewFolder(): Promise<Journal> {
    const journal = await open(temporaryFolder());
    onTestFinished(() => journal.close());
    return journal;
  }

  describe(`${name}: places`, () => {
    const IN_LINE = { status: "queued", parked: true } as const;
    const asks = (more: Partial<RunPlace> = {}) => ({
      ...IN_LINE,
      place: { key: "k", limit: 1, whenFull: "queue" as const, isOver: false, ...more },
    });
    const leaves = (journal: Journal, run: RunNo) =>
      journal.append([
        {
          run,
          afterSeq: 1,
          events: [{ event: started("end") }],
          patch: { status: "completed", parked: false, completedAt: 5, place: { ...asks().place, isOver: true } },
        },
      ]);
    const goOn = async (journal: Journal, runs: readonly RunNo[]) =>
      (await Promise.all(runs.map((run) => journal.readRun(run)))).map((run) => run?.parked === false);

    test("of one key as many runs go on as its first in line says, and the next when one has ended, in their order", async () => {
      const journal = await openInNewFolder();
      const runs: RunNo[] = [];
      for (let n = 0; n < 4; n += 1) runs.push(await createRun(journal, `r${n}`, { patch: asks() }));
      const other = await createRun(journal, "other", { patch: asks({ key: "other" }) });
      const [first = 0, second = 0, third = 0, last = 0] = runs;
      expect(await goOn(journal, [...runs, other])).toEqual([true, false, false, false, true]);
      expect(await journal.findLine(first)).toBeUndefined();
      expect(await journal.findLine(third)).toEqual({ holders: ["r0"], before: 1 });

      await leaves(journal, second);
      expect(await goOn(journal, [third, last])).toEqual([false, false]);
      await leaves(journal, first);
      expect(await goOn(journal, [third, last])).toEqual([true, false]);
      await leaves(journal, third);
      expect(await goOn(journal, [last])).toEqual([true]);
    });

    test("who says that more may go on does not overtake who says that fewer may", async () => {
      const journal = await openInNewFolder();
      const runs: RunNo[] = [];
      for (const limit of [1, 1, 3, 3, 3])
        runs.push(await createRun(journal, `r${runs.length}`, { patch: asks({ limit }) }));
      expect(await goOn(journal, runs)).toEqual([true, false, false, false, false]);
      await leaves(journal, runs[0] ?? 0);
      expect(await goOn(journal, runs.slice(1))).toEqual([true, true, true, false]);
    });

    test("a run that would have to wait and is to be skipped is not created, and the rest of its batch is", async () => {
      const journal = await openInNewFolder();
      const [a = 0, b = 0, c = 0] = await reserveRuns(journal, 3);
      const entry = (run: RunNo, patch: RunPatch) => ({
        run,
        afterSeq: 0,
        create: newRun(`r${run}`),
        events: [{ event: started("a") }],
        patch,
      });
      const skips = asks({ whenFull: "skip" });
      expect(await journal.append([entry(a, skips), entry(b, skips), entry(c, {})])).toEqual([
        { ok: true },
        { ok: false, reason: "full", message: expect.any(String) },
        { ok: true },
      ]);
      expect(await journal.readRun(b)).toBeUndefined();
    });

    test("a run in line that wants it has the oldest ones cancelled, all but as many as there are places", async () => {
      const journal = await openInNewFolder();
      const place = { limit: 2, whenFull: "cancelOlder" } as const;
      for (let n = 0; n < 2; n += 1) await createRun(journal, `r${n}`, { patch: asks(place) });
      expect(await journal.listOvertaken()).toEqual([]);
      for (let n = 2; n < 5; n += 1) await createRun(journal, `r${n}`, { patch: asks(place) });
      expect(await journal.listOvertaken()).toEqual(["r0", "r1", "r2"]);
    });
  });

  describe(`${name}: appending`, () => {
    test("events come back in order, numbered from 1, without their values", async () => {
      const journal = await openInNewFolder();
      const run = await journal.reserveRun();
      const events = [{ event: started("a"), value: '"input"' }, { event: succeeded("a") }];

      const results = await journal.append([{ run, afterSeq: 0, create: newRun("r"), events }]);

      expect(results).toEqual([{ ok: true }]);
      expect(await journal.readEvents(run, { afterSeq: 0, limit: 10 })).toEqual([
        { seq: 1, event: started("a") },
        { seq: 2, event: succeeded("a") },
      ]);
    });

    test("integers beyond 2^53 in events come back as they were", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      const event = { ...succeeded("a"), projected: { id: 9007199254740993n, list: [-(2n ** 63n), 2n ** 64n - 1n] } };

      await journal.append([{ run, afterSeq: 1, events: [{ event }] }]);

      expect(await journal.readEvents(run, { afterSeq: 1, limit: 1 })).toEqual([{ seq: 2, event }]);
    });

    test("events are read from any number on, in slices", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r", { count: 10 });

      const rows = await journal.readEvents(run, { afterSeq: 4, limit: 3 });

      expect(rows.map(({ seq }) => seq)).toEqual([5, 6, 7]);
    });

    test("behind the last event there is nothing", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r", { count: 2 });

      expect(await journal.readEvents(run, { afterSeq: 2, limit: 3 })).toEqual([]);
      expect(await journal.readEvents(run + 1, { afterSeq: 0, limit: 3 })).toEqual([]);
    });

    test("a run continues where it stopped", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");

      await journal.append([{ run, afterSeq: 1, events: [{ event: started("b") }, { event: started("c") }] }]);
      await journal.append([{ run, afterSeq: 3, events: [{ event: started("d") }] }]);

      expect(await readPaths(journal, run)).toEqual(["step1", "b", "c", "d"]);
    });

    test("one batch may continue a run that it has just created", async () => {
      const journal = await openInNewFolder();
      const run = await journal.reserveRun();

      const results = await journal.append([
        { run, afterSeq: 0, create: newRun("r"), events: [{ event: started("a") }] },
        { run, afterSeq: 1, events: [{ event: started("b") }] },
      ]);

      expect(results).toEqual([{ ok: true }, { ok: true }]);
      expect(await readPaths(journal, run)).toEqual(["a", "b"]);
    });

    test("runs in one batch do not mix", async () => {
      const journal = await openInNewFolder();
      const [a, b] = [await createRun(journal, "a"), await createRun(journal, "b")];

      await journal.append([
        { run: a, afterSeq: 1, events: [{ event: started("of a") }] },
        { run: b, afterSeq: 1, events: [{ event: started("of b") }] },
      ]);

      expect(await readPaths(journal, a)).toEqual(["step1", "of a"]);
      expect(await readPaths(journal, b)).toEqual(["step1", "of b"]);
    });

    test("an empty batch is nothing", async () => {
      const journal = await openInNewFolder();
      expect(await journal.append([])).toEqual([]);
    });

    test("large values and odd characters come back as they were", async () => {
      const journal = await openInNewFolder();
      const run = await journal.reserveRun();
      const value = JSON.stringify(`${"ä\u0000\ud83d\ude00".repeat(20_000)}`);

      await journal.append([{ run, afterSeq: 0, create: newRun("r"), events: [{ event: started("a"), value }] }]);

      expect(await journal.readValue(run, 1)).toBe(value);
    });
  });

  describe(`${name}: deleting`, () => {
    const ended = { event: { type: "runFinished", status: "failed", at: 9_000 } } as const;

    test("a run that has ended goes with its events, values and outbox, and no other", async () => {
      const journal = await openInNewFolder();
      const [before, run, after] = [
        await createRun(journal, "before"),
        await createRun(journal, "r", { count: 3, more: { parentRunId: "before" } }),
        await createRun(journal, "after"),
      ];
      const outbox = [{ kind: "dead_letter", body: "{}" }];
      const patch = { status: "failed", completedAt: 9_000 } as const;
      await journal.append([{ run, afterSeq: 3, events: [{ ...ended, value: "1" }], patch, outbox }]);
      await journal.append([{ run: after, afterSeq: 1, events: [ended], patch, outbox }]);

      expect(await journal.deleteRun(run)).toBe(true);

      expect(await journal.findRun("r")).toBeUndefined();
      expect(await journal.readRun(run)).toBeUndefined();
      expect(await journal.readEvents(run, { afterSeq: 0, limit: 10 })).toEqual([]);
      expect(await journal.readValue(run, 4)).toBeUndefined();
      expect((await journal.readOutbox({ limit: 10 })).map((entry) => entry.run)).toEqual([after]);
      expect(await journal.listRuns({ limit: 10, parentRunId: "before" })).toEqual([]);
      expect(await readPaths(journal, before)).toEqual(["step1"]);
      expect(await readPaths(journal, after)).toEqual(["step1", "runFinished"]);
      expect(await journal.deleteRun(run)).toBe(false);
    });

    test("a run that goes on stays, and so does its number", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");

      expect(await journal.deleteRun(run)).toBe(false);

      expect(await journal.append([{ run, afterSeq: 1, events: [ended] }])).toEqual([{ ok: true }]);
      expect(await journal.deleteRun(run + 1)).toBe(false);
    });
  });

  describe(`${name}: lists of what follows`, () => {
    test("reruns are found by the run that they repeat", async () => {
      const journal = await openInNewFolder();
      await createRun(journal, "p");
      const child = await createRun(journal, "c", { more: { parentRunId: "p" } });
      await createRun(journal, "other", { more: { parentRunId: "q" } });

      expect((await journal.listRuns({ limit: 10, parentRunId: "p" })).map(({ no }) => no)).toEqual([child]);
      expect(await journal.countRuns({ parentRunId: "p" })).toBe(1);
    });

    test("the outbox is read on behind an entry", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      const outbox = ["a", "b", "c"].map((kind) => ({ kind, body: "{}" }));
      await journal.append([{ run, afterSeq: 1, events: [], outbox }]);

      const [first, ...rest] = await journal.readOutbox({ limit: 10 });

      expect(await journal.readOutbox({ limit: 10, afterId: first?.id ?? 0 })).toEqual(rest);
      expect(await journal.readOutbox({ limit: 10, kind: "a", afterId: first?.id ?? 0 })).toEqual([]);
    });
  });

  describe(`${name}: the order of all runs`, () => {
    test("is that of the commits, and is read in pages of any size without a gap or a repeat", async () => {
      const journal = await openInNewFolder();
      const a = await createRun(journal, "a", { count: 3, more: { tenantId: "x" } });
      const b = await createRun(journal, "b");
      await journal.append([
        { run: b, afterSeq: 1, events: [{ event: started("b2") }] },
        { run: a, afterSeq: 9, events: [{ event: started("refused") }] },
        { run: a, afterSeq: 3, events: [{ event: started("a4") }, { event: succeeded("a5") }] },
      ]);
      const whole = ["a1", "a2", "a3", "b1", "b2", "a4", "a5"];
      for (const limit of [1, 2, 3, 100]) expect(await readWholeLog(journal, { limit })).toEqual(whole);
      expect(await readWholeLog(journal, { limit: 2, tenantId: "x" })).toEqual(["a1", "a2", "a3", "a4", "a5"]);
      const { events } = await journal.readLog({ after: LOG_BEGIN, limit: 100 });
      expect(events.at(-1)?.position).toEqual(await journal.findCommit());
      expect(events.at(-1)).toMatchObject({ seq: 5, run: { id: "a", workflow: "flow", tenantId: "x" } });
      for (const [n, { position }] of events.entries()) {
        expect((await journal.readLog({ after: position, limit: 100 })).events).toEqual(events.slice(n + 1));
      }
    });

    test("grows with a run that goes on alone, for whoever has read it before and for whoever reads it later", async () => {
      const journal = await openInNewFolder();
      const a = await createRun(journal, "a", { count: 2 });
      const before = await journal.findCommit();
      const goOn = (afterSeq: number, paths: readonly string[]) =>
        journal.append([{ run: a, afterSeq, events: paths.map((path) => ({ event: started(path) })) }]);
      await goOn(2, ["a3"]);
      await goOn(3, ["a4", "a5"]);
      expect(before).toEqual({ commit: expect.any(Number), at: 2_000, index: 2 });
      const rest = await journal.readLog({ after: before ?? LOG_BEGIN, limit: 100 });
      expect(rest.events.map(({ seq }) => seq)).toEqual([3, 4, 5]);
      expect(rest.end).toEqual(await journal.findCommit());

      await createRun(journal, "b");
      await goOn(5, ["a6"]);
      await goOn(6, ["a7"]);
      const whole = ["a1", "a2", "a3", "a4", "a5", "b1", "a6", "a7"];
      for (const limit of [1, 2, 3, 100]) expect(await readWholeLog(journal, { limit })).toEqual(whole);
      const { events } = await journal.readLog({ after: LOG_BEGIN, limit: 100 });
      expect(new Set(events.map(({ position }) => JSON.stringify(position))).size).toBe(whole.length);
      for (const [n, { position }] of events.entries()) {
        expect((await journal.readLog({ after: position, limit: 100 })).events).toEqual(events.slice(n + 1));
      }
    });

    test("names each commit by its number and time, and none that is not there", async () => {
      const journal = await openInNewFolder();
      expect(await journal.findCommit()).toBeUndefined();
      await createRun(journal, "a", { count: 2 });
      await createRun(journal, "b");
      const [first, , end = LOG_BEGIN] = (await journal.readLog({ after: LOG_BEGIN, limit: 9 })).events.map(
        ({ position }) => position,
      );
      expect([first, end]).toMatchObject([
        { at: 2_000, index: 1 },
        { at: 2_000, index: 1 },
      ]);
      expect(await journal.findCommit(first?.commit ?? 0)).toEqual({ ...first, index: 2 });
      expect(await journal.findCommit()).toEqual(end);
      expect(await journal.findCommit(end.commit + 1)).toBeUndefined();
      expect(await journal.readLog({ after: end, limit: 5 })).toEqual({ events: [], end, missed: 0 });
    });

    test("counts what deleted runs have left out, for those whose they were", async () => {
      const journal = await openInNewFolder();
      const gone = await createRun(journal, "gone", { count: 3, more: { tenantId: "x" } });
      await createRun(journal, "stays");
      const patch = { status: "failed", completedAt: 9_000 } as const;
      await journal.append([
        { run: gone, afterSeq: 3, events: [{ event: { type: "runFinished", status: "failed", at: 9_000 } }], patch },
      ]);
      await journal.deleteRun(gone);
      const read = (tenantId?: string) => journal.readLog({ after: LOG_BEGIN, limit: 100, tenantId });
      expect(await read()).toMatchObject({ missed: 4, events: [{ run: { id: "stays" } }] });
      expect((await read()).end).toEqual(await journal.findCommit());
      expect(await read("x")).toMatchObject({ missed: 4, events: [] });
      expect(await read("y")).toMatchObject({ missed: 0, events: [] });
    });
  });

  describe(`${name}: what policies had to say`, () => {
    test("is listed newest first, by what is asked for, page by page, and goes with its run", async () => {
      const journal = await openInNewFolder();
      const said = (policy: string, action: "redact" | "block") => ({ policy, action, why: "it is" }) as const;
      const a = await createRun(journal, "a", { more: { tenantId: "x" } });
      const b = await createRun(journal, "b", { more: { workflow: "other" } });
      const event = {
        ...succeeded("s"),
        policies: [said("p", "redact"), { ...said("q", "block"), found: { email: 2 } }],
      };
      await journal.append([
        { run: b, afterSeq: 1, events: [{ event: { ...event, at: 5_000 } }] },
        { run: a, afterSeq: 1, events: [{ event: started("s") }, { event }] },
      ]);
      const list = async (filter: Partial<ViolationFilter> = {}) =>
        (await journal.listViolations({ limit: 10, ...filter })).map(({ run, seq, decision }) => [
          `${run.id}${seq}`,
          decision.policy,
        ]);
      const all = [
        ["a3", "q"],
        ["a3", "p"],
        ["b2", "q"],
        ["b2", "p"],
      ];
      expect(await list()).toEqual(all);
      expect(await list({ policy: "p" })).toEqual([all[1], all[3]]);
      expect(await list({ action: "block" })).toEqual([all[0], all[2]]);
      expect(await list({ workflow: "other" })).toEqual(all.slice(2));
      expect(await list({ tenantId: "x" })).toEqual(all.slice(0, 2));
      expect(await list({ run: b, from: 5_000, before: 5_001 })).toEqual(all.slice(2));
      expect(await list({ from: 5_001 })).toEqual([]);
      const [, second] = await journal.listViolations({ limit: 2 });
      expect(second?.decision).toEqual(said("p", "redact"));
      expect(await list({ limit: 2, beforeNo: second?.no ?? 0 })).toEqual(all.slice(2));
      await journal.append([
        { run: b, afterSeq: 2, events: [{ event: started("z") }], patch: { status: "failed", completedAt: 9 } },
      ]);
      await journal.deleteRun(b);
      expect(await list()).toEqual(all.slice(0, 2));
    });
  });

  describe(`${name}: open approvals`, () => {
    test("are counted and their runs are listed, whatever the runs do besides", async () => {
      const journal = await openInNewFolder();
      await createRun(journal, "none");
      const one = await createRun(journal, "one", { patch: { status: "running", openApprovals: 1 } });
      const two = await createRun(journal, "two", { patch: { status: "awaiting_approval", openApprovals: 2 } });
      expect(await journal.countApprovals()).toBe(3);
      const asking = await journal.listRuns({ hasApprovals: true, limit: 10 });
      expect(asking.map(({ no, openApprovals }) => [no, openApprovals])).toEqual([
        [two, 2],
        [one, 1],
      ]);
      await journal.append([{ run: two, afterSeq: 1, events: [], patch: { openApprovals: 0 } }]);
      expect([await journal.countApprovals(), await journal.countRuns({ hasApprovals: true })]).toEqual([1, 1]);
    });
  });

  describe(`${name}: stored bytes`, () => {
    test("are the sum of what the rows of a tenant's runs say, without those that were deleted", async () => {
      const journal = await openInNewFolder();
      const more = { tenantId: "t" };
      const one = await createRun(journal, "one", { more, patch: { status: "completed", storedBytes: 3_000_000_000 } });
      const two = await createRun(journal, "two", { more });
      await createRun(journal, "other", { more: { tenantId: "o" }, patch: { status: "completed", storedBytes: 7 } });
      await journal.append([{ run: two, afterSeq: 1, events: [], patch: { storedBytes: 5 } }]);
      await journal.append([{ run: two, afterSeq: 1, events: [], patch: { costMicro: 1, storedBytes: 6 } }]);
      await journal.append([{ run: two, afterSeq: 1, events: [], patch: { status: "failed", storedBytes: 8 } }]);
      const sums = () => Promise.all(["t", "o", "none"].map((tenant) => journal.sumStoredBytes(tenant)));
      expect(await sums()).toEqual([3_000_000_008, 7, 0]);
      await journal.deleteRun(one);
      expect(await sums()).toEqual([8, 7, 0]);
    });
  });

  describe(`${name}: conflicts`, () => {
    test("a wrong number drops only the loser", async () => {
      const journal = await openInNewFolder();
      const [a, b] = [await createRun(journal, "a"), await createRun(journal, "b")];

      const results = await journal.append([
        { run: a, afterSeq: 7, events: [{ event: started("lost") }] },
        { run: b, afterSeq: 1, events: [{ event: started("kept") }] },
      ]);

      expect(results).toEqual([{ ok: false, reason: "conflict", message: expect.any(String) }, { ok: true }]);
      expect(await readPaths(journal, a)).toEqual(["step1"]);
      expect(await readPaths(journal, b)).toEqual(["step1", "kept"]);
    });

    test("of two entries that follow the same event the first wins", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");

      const results = await journal.append([
        { run, afterSeq: 1, events: [{ event: started("first") }] },
        { run, afterSeq: 1, events: [{ event: started("second") }] },
      ]);

      expect(results.map(({ ok }) => ok)).toEqual([true, false]);
      expect(await readPaths(journal, run)).toEqual(["step1", "first"]);
    });

    test("a finished run refuses more events, in the same batch and later", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      const late = { run, afterSeq: 2, events: [{ event: started("late") }] };

      const results = await journal.append([
        {
          run,
          afterSeq: 1,
          events: [{ event: { type: "runFinished", status: "completed", at: 9_000 } }],
          patch: { status: "completed", completedAt: 9_000 },
        },
        late,
      ]);

      expect(results).toMatchObject([{ ok: true }, { ok: false, reason: "conflict" }]);
      expect(await journal.append([late])).toMatchObject([{ ok: false, reason: "conflict" }]);
      expect(await readPaths(journal, run)).toEqual(["step1", "runFinished"]);
    });

    test("a run that was never created takes no events", async () => {
      const journal = await openInNewFolder();
      const run = await journal.reserveRun();

      const results = await journal.append([{ run, afterSeq: 0, events: [{ event: started("a") }] }]);

      expect(results).toMatchObject([{ ok: false, reason: "conflict" }]);
    });

    test("a run is created once", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r", { count: 0 });

      const results = await journal.append([{ run, afterSeq: 0, create: newRun("other"), events: [] }]);

      expect(results).toMatchObject([{ ok: false, reason: "conflict" }]);
    });

    test("an id that is taken refuses its entry and no other", async () => {
      const journal = await openInNewFolder();
      const first = await createRun(journal, "taken");
      const [second, third] = [await journal.reserveRun(), await journal.reserveRun()];

      const results = await journal.append([
        { run: first, afterSeq: 1, events: [{ event: started("before") }] },
        {
          run: second,
          afterSeq: 0,
          create: newRun("taken"),
          events: [{ event: started("lost") }],
          outbox: [{ kind: "webhook", body: "lost" }],
          pins: [{ hash: "lost", text: "lost" }],
        },
        { run: third, afterSeq: 0, create: newRun("free"), events: [{ event: started("after") }] },
      ]);

      expect(results).toMatchObject([{ ok: true }, { ok: false, reason: "taken" }, { ok: true }]);
      expect(await readPaths(journal, first)).toEqual(["step1", "before"]);
      expect(await journal.readRun(second)).toBeUndefined();
      expect(await readPaths(journal, third)).toEqual(["after"]);
      expect(await journal.readOutbox({ limit: 10 })).toEqual([]);
      expect(await journal.readPinned("lost")).toBeUndefined();
    });

    test("a batch that is tried again under its token is written once, and answers as before", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      const batch = [
        { run, afterSeq: 1, events: [{ event: started("b") }], outbox: [{ kind: "storage", body: "{}" }] },
        { run: run + 1_000, afterSeq: 3, events: [{ event: started("lost") }] },
      ];
      const results = await journal.append(batch, "one");
      expect(await journal.append(batch, "one")).toMatchObject(results.map(({ ok }) => ({ ok })));
      expect(await readPaths(journal, run)).toEqual(["step1", "b"]);
      expect(await journal.readOutbox({ limit: 9 })).toHaveLength(1);
      expect(await journal.append(batch, "two")).toMatchObject([{ reason: "conflict" }, { reason: "conflict" }]);
    });

    test("after a refusal the next right entry is taken", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      await journal.append([{ run, afterSeq: 5, events: [{ event: started("lost") }] }]);
      await journal.append([{ run: await journal.reserveRun(), afterSeq: 0, create: newRun("r"), events: [] }]);

      const results = await journal.append([{ run, afterSeq: 1, events: [{ event: started("b") }] }]);

      expect(results).toEqual([{ ok: true }]);
    });
  });

  describe(`${name}: values`, () => {
    test("a value is read by the number of its event", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      await journal.append([
        {
          run,
          afterSeq: 1,
          events: [
            { event: started("a"), value: "1" },
            { event: started("b"), value: `~${"0".repeat(64)}` },
          ],
        },
      ]);

      expect(await journal.readValue(run, 2)).toBe("1");
      expect(await journal.readValue(run, 1)).toBeUndefined();
      expect(await journal.readValue(run, 99)).toBeUndefined();
      expect([...(await journal.readValues(run, [1, 3, 2, 99]))].sort()).toEqual([
        [2, "1"],
        [3, `~${"0".repeat(64)}`],
      ]);
    });
  });

  describe(`${name}: runs`, () => {
    test("a new run is queued, awake and free", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r", { count: 3 });

      expect(await journal.readRun(run)).toEqual({
        ...newRun("r"),
        no: run,
        status: "queued",
        lastSeq: 3,
        parked: false,
        costMicro: 0,
        uncertainMicro: 0,
        openApprovals: 0,
        storedBytes: 0,
      });
      expect(await journal.readRun(run + 1)).toBeUndefined();
    });

    test("a run keeps everything that it was created and patched with", async () => {
      const journal = await openInNewFolder();
      const more = { parentRunId: "p", tenantId: "t", callbackUrl: "http://localhost/x" };
      const patch = {
        status: "failed",
        wakeAt: 5,
        parked: true,
        costMicro: 6,
        uncertainMicro: 3,
        openApprovals: 2,
        storedBytes: 11,
        startedAt: 7,
        completedAt: 8,
        error: { code: "STEP_FAILED", message: "no" },
      } as const;

      const run = await createRun(journal, "r", { more, patch });

      expect(await journal.readRun(run)).toEqual({ ...newRun("r"), ...more, ...patch, no: run, lastSeq: 1 });
    });

    test("a patch changes what it names and clears what it sets to null", async () => {
      const journal = await openInNewFolder();
      const error = { code: "TIMEOUT", message: "slow" };
      const run = await createRun(journal, "r", { patch: { status: "waiting", wakeAt: 5, parked: true, error } });

      await journal.append([{ run, afterSeq: 1, events: [], patch: { costMicro: 9, uncertainMicro: 4 } }]);
      expect(await journal.readRun(run)).toMatchObject({ costMicro: 9, uncertainMicro: 4 });
      await journal.append([{ run, afterSeq: 1, events: [], patch: { costMicro: 9, uncertainMicro: null } }]);
      await journal.append([{ run, afterSeq: 1, events: [], patch: { status: "running", parked: false } }]);
      expect(await journal.readRun(run)).toMatchObject({
        status: "running",
        parked: false,
        wakeAt: 5,
        costMicro: 9,
        uncertainMicro: null,
        error,
      });

      await journal.append([{ run, afterSeq: 1, events: [], patch: { wakeAt: null, error: null } }]);
      const record = await journal.readRun(run);
      expect(record).toMatchObject({ status: "running", costMicro: 9 });
      expect(record).not.toHaveProperty("wakeAt");
      expect(record).not.toHaveProperty("error");
    });

    test("a run is found by its id, or by a beginning that fits no other", async () => {
      const journal = await openInNewFolder();
      const [one, two, three] = [
        await createRun(journal, "abc"),
        await createRun(journal, "abcd"),
        await createRun(journal, "a%z"),
      ];

      expect(await journal.findRun("abc")).toMatchObject({ no: one });
      expect(await journal.findRun("abcd")).toMatchObject({ no: two });
      expect(await journal.findRun("a%")).toMatchObject({ no: three });
      expect(await journal.findRun("ab")).toBe("ambiguous");
      expect(await journal.findRun("ab%")).toBeUndefined();
      expect(await journal.findRun("_bc")).toBeUndefined();
      expect(await journal.findRun("b")).toBeUndefined();
    });

    test("runs are listed newest first, by what the filter names, page by page", async () => {
      const journal = await openInNewFolder();
      const a = await createRun(journal, "a", { more: { createdAt: 10, tenantId: "t" } });
      const b = await createRun(journal, "b", {
        more: { createdAt: 20, workflow: "other" },
        patch: { status: "failed" },
      });
      const c = await createRun(journal, "c", { more: { createdAt: 30 }, patch: { status: "running" } });
      const numbers = async (filter: Parameters<Journal["listRuns"]>[0]) =>
        (await journal.listRuns(filter)).map(({ no }) => no);

      expect(await numbers({ limit: 10 })).toEqual([c, b, a]);
      expect(await numbers({ limit: 2 })).toEqual([c, b]);
      expect(await numbers({ limit: 2, beforeRun: b })).toEqual([a]);
      expect(await numbers({ limit: 10, status: ["queued", "failed", "failed"] })).toEqual([b, a]);
      expect(await numbers({ limit: 2, afterRun: 0 })).toEqual([a, b]);
      expect(await numbers({ limit: 2, afterRun: a, status: ["running", "failed", "queued"] })).toEqual([b, c]);
      expect(await numbers({ limit: 1, status: ["queued", "failed"] })).toEqual([b]);
      expect(await numbers({ limit: 10, status: [] })).toEqual([]);
      expect(await numbers({ limit: 10, workflow: "flow", status: ["queued", "failed"] })).toEqual([a]);
      expect(await numbers({ limit: 10, tenantId: "t" })).toEqual([a]);
      expect(await numbers({ limit: 10, createdFrom: 20 })).toEqual([c, b]);
      expect(await numbers({ limit: 10, createdFrom: 10, createdBefore: 20 })).toEqual([a]);
      expect(await numbers({ limit: 1, offset: 1 })).toEqual([b]);
      expect(await numbers({ limit: 1, offset: 1, status: ["queued", "failed"] })).toEqual([a]);
      expect(await numbers({ limit: 1, offset: 3 })).toEqual([]);
    });

    test("runs are listed and counted however far apart their numbers are, and whatever the clock said", async () => {
      const journal = await openInNewFolder();
      const all: { no: number; status: "failed" | "queued"; createdAt: number }[] = [];
      for (let n = 0; n < 12; n += 1) {
        await reserveRuns(journal, 1_700);
        const status = n % 3 === 0 ? "failed" : "queued";
        const createdAt = 100 - (n % 5);
        all.push({
          no: await createRun(journal, `r${n}`, { more: { createdAt }, patch: { status } }),
          status,
          createdAt,
        });
      }
      const numbers = async (filter: Parameters<Journal["listRuns"]>[0]) =>
        (await journal.listRuns(filter)).map(({ no }) => no);
      const numbersOf = (runs: typeof all) => runs.map(({ no }) => no);
      const failed = all.filter(({ status }) => status === "failed");
      const early = all.filter(({ createdAt }) => createdAt < 98);

      for (let offset = 0; offset < 13; offset += 1) {
        const expected = numbersOf(all.toReversed()).slice(offset, offset + 3);
        expect(await numbers({ limit: 3, offset })).toEqual(expected);
        expect(await numbers({ limit: 3, offset, status: ["queued", "failed"] })).toEqual(expected);
        const few = numbersOf(failed.toReversed()).slice(offset, offset + 2);
        expect(await numbers({ limit: 2, offset, status: ["failed"] })).toEqual(few);
      }
      for (const { no } of all) {
        expect(await numbers({ limit: 20, afterRun: no })).toEqual(numbersOf(all).filter((each) => each > no));
        expect(await numbers({ limit: 20, beforeRun: no })).toEqual(
          numbersOf(all.toReversed()).filter((each) => each < no),
        );
      }
      expect(await numbers({ limit: 20, createdBefore: 98 })).toEqual(numbersOf(early.toReversed()));
      expect(await numbers({ limit: 20, createdFrom: 200 })).toEqual([]);
      expect(await journal.countRuns({})).toBe(12);
      expect(await journal.countRuns({ status: ["failed"] })).toBe(failed.length);
      expect(await journal.countRuns({ createdBefore: 98, status: ["failed", "queued"] })).toBe(early.length);
      expect(await journal.countRunsByStatus({})).toEqual(
        new Map([
          ["failed", failed.length],
          ["queued", 12 - failed.length],
        ]),
      );
      expect(await journal.countRunsByStatus({ createdFrom: 200 })).toEqual(new Map());
    });

    test("runs are selected by dialect, by steps that are held, and by what should go on", async () => {
      const journal = await openInNewFolder();
      const error = { code: "POISON", message: "It rests." };
      await createRun(journal, "a", { more: { dialect: "terminal" } });
      await createRun(journal, "b", { patch: { status: "waiting", parked: true, error } });
      await createRun(journal, "c", { patch: { status: "waiting", parked: true, wakeAt: 50 } });
      await createRun(journal, "d", { patch: { status: "failed", error, completedAt: 9 } });
      const found = async (selection: Parameters<Journal["countRuns"]>[0]) => [
        (await journal.listRuns({ ...selection, limit: 9 })).map(({ id }) => id).join(""),
        await journal.countRuns(selection),
      ];

      expect(await found({ dialect: "terminal" })).toEqual(["a", 1]);
      expect(await found({ holdsSteps: true })).toEqual(["b", 1]);
      expect(await found({ dueAt: 49 })).toEqual(["a", 1]);
      expect(await found({ dueAt: 50 })).toEqual(["ca", 2]);
      expect(await journal.countRunsByStatus({ dueAt: 50 })).toEqual(
        new Map([
          ["queued", 1],
          ["waiting", 1],
        ]),
      );
    });

    test("runs are counted by what a selection names, and found by a text", async () => {
      const journal = await openInNewFolder();
      await createRun(journal, "a", { more: { workflow: "100%_Leads" } });
      const error = { code: "STEP_FAILED", message: "The 100 of them" };
      await createRun(journal, "b", { more: { workflow: "100 leads" }, patch: { status: "failed", error } });
      const found = async (text: string) => (await journal.listRuns({ text, limit: 10 })).map(({ id }) => id);

      expect(await journal.countRuns({})).toBe(2);
      expect(await journal.countRuns({ status: ["failed", "queued", "failed"] })).toBe(2);
      expect(await journal.countRuns({ status: [] })).toBe(0);
      expect(await journal.countRuns({ status: ["failed"], workflow: "100%_Leads" })).toBe(0);
      expect(await journal.countRuns({ text: "LEADS" })).toBe(2);
      expect(await found("leads\0")).toEqual([]);
      expect(await found("\0")).toEqual([]);
      expect(await found("leads")).toEqual(["b", "a"]);
      expect(await found("%_")).toEqual(["a"]);
      expect(await found("step_f")).toEqual(["b"]);
      expect(await found("\\")).toEqual([]);
    });
  });

  describe(`${name}: what is due`, () => {
    test("unfinished runs are due unless they are parked and their time has not come", async () => {
      const journal = await openInNewFolder();
      const going = await createRun(journal, "going", { patch: { status: "running" } });
      await createRun(journal, "asleep", { patch: { status: "waiting", parked: true, wakeAt: 200 } });
      await createRun(journal, "for a person", { patch: { status: "awaiting_approval", parked: true } });
      const awake = await createRun(journal, "awake", { patch: { status: "waiting", parked: true, wakeAt: 100 } });
      await createRun(journal, "done", { patch: { status: "completed", wakeAt: 50, parked: true } });
      const queued = await createRun(journal, "queued");

      const all = (await journal.listRuns({ limit: 10 })).map(({ no }) => no);
      const claim = async (afterRun: number, limit: number) =>
        (await journal.claimDue({ now: 100, afterRun, limit })).map(({ no }) => no);
      const due = async (afterRun: number, limit: number) => {
        await journal.release(all);
        return claim(afterRun, limit);
      };

      expect(await claim(0, 10)).toEqual([]);
      expect(await due(0, 10)).toEqual([going, awake, queued]);
      expect(await due(0, 2)).toEqual([going, awake]);
      expect(await due(awake, 2)).toEqual([queued]);
    });

    test("the next time to wake is the earliest of a parked, unfinished run", async () => {
      const journal = await openInNewFolder();
      expect(await journal.nextWakeAt()).toBeUndefined();
      await createRun(journal, "done", { patch: { status: "cancelled", parked: true, wakeAt: 1 } });
      await createRun(journal, "going", { patch: { status: "running", wakeAt: 2 } });
      await createRun(journal, "late", { patch: { status: "waiting", parked: true, wakeAt: 300 } });
      const early = await createRun(journal, "early", { patch: { status: "waiting", parked: true, wakeAt: 200 } });
      await journal.release([early]);

      expect(await journal.nextWakeAt()).toBe(200);
    });
  });

  describe(`${name}: pins and outbox`, () => {
    test("a text comes back as it was, whatever characters are in it", async () => {
      const journal = await openInNewFolder();
      const text = 'a\0b \u{10FFFE}0 \u{10FFFE} \\u0000 "ü😀"';
      const run = await journal.reserveRun();
      const events = [{ event: started(text) }];
      await journal.append([{ run, afterSeq: 0, create: newRun("a"), events, pins: [{ hash: "h", text }] }]);

      expect(await journal.readPinned("h")).toBe(text);
      expect(await readPaths(journal, run)).toEqual([text]);
    });

    test("a pinned text is stored once and found by its hash", async () => {
      const journal = await openInNewFolder();
      const pins = [{ hash: "h", text: "first" }];
      for (const id of ["a", "b"]) {
        await journal.append([{ run: await journal.reserveRun(), afterSeq: 0, create: newRun(id), events: [], pins }]);
      }

      expect(await journal.readPinned("h")).toBe("first");
      expect(await journal.readPinned("unknown")).toBeUndefined();
    });

    test("the outbox is read oldest first, as old as the last event, until an entry is finished", async () => {
      const journal = await openInNewFolder();
      const run = await journal.reserveRun();
      const outbox = [
        { kind: "webhook", body: "1" },
        { kind: "storage", body: "2" },
        { kind: "webhook", body: "3" },
      ];
      await journal.append([{ run, afterSeq: 0, create: newRun("r"), events: [{ event: started("a", 77) }], outbox }]);

      const all = await journal.readOutbox({ limit: 10 });
      expect(all).toMatchObject(outbox.map((record) => ({ ...record, run, createdAt: 77 })));
      expect(await journal.readOutbox({ limit: 1, kind: "webhook" })).toMatchObject([{ body: "1" }]);

      await journal.finishOutbox(all.slice(0, 2).map(({ id }) => id));
      expect(await journal.readOutbox({ limit: 10 })).toMatchObject([{ body: "3" }]);
      expect(await journal.readOutbox({ limit: 10, kind: "storage" })).toEqual([]);
    });

    test("a finished entry's id is not given to another", async () => {
      const journal = await openInNewFolder();
      const run = await createRun(journal, "r");
      const send = (afterSeq: number) =>
        journal.append([
          { run, afterSeq, events: [{ event: started("a") }], outbox: [{ kind: "webhook", body: "{}" }] },
        ]);
      await send(1);
      const [first] = await journal.readOutbox({ limit: 1 });
      await journal.finishOutbox(first ? [first.id] : []);
      await send(2);
      await journal.finishOutbox(first ? [first.id] : []);

      expect(await journal.readOutbox({ limit: 10 })).toHaveLength(1);
    });
  });

  if (!isDurable) return;
  describe(`${name}: after closing`, () => {
    test("the number of a deleted run is not used again", async () => {
      const folder = temporaryFolder();
      const before = await open(folder);
      const run = await createRun(before, "r");
      const patch = { status: "failed", completedAt: 9_000 } as const;
      const finished = { type: "runFinished", status: "failed", at: 9_000 } as const;
      await before.append([{ run, afterSeq: 1, events: [{ event: finished }], patch }]);
      await before.deleteRun(run);
      await before.close();

      const after = await open(folder);
      onTestFinished(() => after.close());
      expect(await after.reserveRun()).toBeGreaterThan(run);
    });

    test("everything is there when it is opened again, and goes on", async () => {
      const folder = temporaryFolder();
      const before = await open(folder);
      const run = await createRun(before, "r", { count: 5, patch: { status: "running" } });
      await before.close();

      const after = await open(folder);
      onTestFinished(() => after.close());

      expect(await readPaths(after, run)).toHaveLength(5);
      expect(await after.reserveRun()).toBeGreaterThan(run);
      expect(await after.claim(run)).toMatchObject({ no: run, lastSeq: 5 });
      expect(await after.append([{ run, afterSeq: 5, events: [{ event: started("b") }] }])).toEqual([{ ok: true }]);
    });

    test("a finished run is still finished", async () => {
      const folder = temporaryFolder();
      const before = await open(folder);
      const run = await createRun(before, "r", { patch: { status: "partial" } });
      await before.close();

      const after = await open(folder);
      onTestFinished(() => after.close());

      expect(await after.append([{ run, afterSeq: 1, events: [{ event: started("b") }] }])).toMatchObject([
        { ok: false },
      ]);
    });
  });
}
