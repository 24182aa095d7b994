import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type ClaimedRun, isBefore, type Journal, LOG_BEGIN } from "../../../src/ports/journal.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { refuseRows } from "../../support/refuse-rows.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun, readPaths, started } from "../journal-samples.ts";

/** The first one shows no sign of life while a test lasts, and the others look often for who has died. */
async function openSome(count: number, lost: () => void = () => undefined, leaseMs = 400) {
  const url = await newTestDatabase();
  const journals: Journal[] = [];
  for (let n = 0; n < count; n += 1) {
    const journal = await openTestJournal(url, { lost, leaseMs: n === 0 ? 60_000 : leaseMs });
    onTestFinished(() => journal.close());
    journals.push(journal);
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return { journals: journals as [Journal, Journal, ...Journal[]], client, url };
}

const NOW = { now: 0, afterRun: 0, limit: 100 };

test("a run that somebody drives is claimed by nobody else, until it is let go of", async () => {
  const { journals } = await openSome(2);
  const [one, other] = journals;
  const run = await createRun(one, "r");
  expect([await other.claim(run), await other.claimDue(NOW)]).toEqual([undefined, []]);
  const lost = [{ run, afterSeq: 1, events: [{ event: started("lost") }] }];
  expect(await other.append(lost)).toMatchObject([{ reason: "fenced" }]);
  await one.release([run]);
  expect(await other.claimDue(NOW)).toMatchObject([{ no: run, lastSeq: 1, lostAt: null }]);
  expect(await one.append(lost)).toMatchObject([{ reason: "fenced" }]);
  expect(await readPaths(other, run)).toEqual(["step1"]);
});

test("a run that is asked for while it is let go of is claimed again, and can be written", async () => {
  const { journals } = await openSome(1);
  const run = await createRun(journals[0], "r");
  const appending = journals[0].append([{ run, afterSeq: 1, events: [{ event: started("a") }] }]);
  const releasing = journals[0].release([run]);
  expect(await journals[0].claim(run)).toMatchObject({ no: run });
  await Promise.all([appending, releasing]);
  expect(await journals[0].append([{ run, afterSeq: 2, events: [{ event: started("b") }] }])).toEqual([{ ok: true }]);
});

test("what a process writes of a run that another one has taken and ended is refused as another's", async () => {
  const { journals, client } = await openSome(2);
  const [one, other] = journals;
  const run = await createRun(one, "r");
  await client.query("UPDATE runs SET owner = NULL, epoch = epoch + 1");
  expect(await other.claim(run)).toMatchObject({ no: run });
  const end = { type: "runFinished", at: 2, status: "completed" } as const;
  expect(await other.append([{ run, afterSeq: 1, events: [{ event: end }], patch: { status: "completed" } }])).toEqual([
    { ok: true },
  ]);
  expect(await one.append([{ run, afterSeq: 1, events: [{ event: started("late") }] }])).toMatchObject([
    { reason: "fenced" },
  ]);
});

test("an entry that a full disk refuses is not refused itself: the batch is tried again, and written", async () => {
  const { journals, client } = await openSome(1);
  const run = await createRun(journals[0], "r");
  // One entry continues the other, so that each has a statement of its own.
  const entries = ["a", "b"].map((step, index) => ({ run, afterSeq: index + 1, events: [{ event: started(step) }] }));
  await refuseRows(client, true);
  await client.query("DROP TRIGGER disk_is_full ON commits");
  await expect(journals[0].append(entries, "token")).rejects.toMatchObject({ code: "JOURNAL_FULL" });
  await refuseRows(client, false);
  expect(await journals[0].append(entries, "token")).toEqual([{ ok: true }, { ok: true }]);
  expect(await readPaths(journals[0], run)).toEqual(["step1", "a", "b"]);
});

test("of many that ask at once each gets other runs, and none is left", async () => {
  const { journals } = await openSome(4, undefined, 60_000);
  const runs = await Promise.all(Array.from({ length: 60 }, (_, n) => createRun(journals[0], `r${n}`)));
  await journals[0].release(runs);
  const claimed = await Promise.all(
    journals.flatMap((journal) => Array.from({ length: 8 }, () => journal.claimDue({ ...NOW, afterRun: 0, limit: 3 }))),
  );
  const numbers = claimed.flat().map(({ no }) => no);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(runs.toSorted((a, b) => a - b));
});

test("what a process still writes whose lease is over is refused, and it begins anew", async () => {
  let losses = 0;
  const { journals, client } = await openSome(2, () => {
    losses += 1;
  });
  const [zombie, other] = journals;
  const run = await createRun(zombie, "r");
  const expired = "seen_at = now() - interval '9 seconds', until = now() - interval '1 second'";
  await client.query(`UPDATE workers SET ${expired} WHERE id = (SELECT owner FROM runs)`);
  let claimed: readonly ClaimedRun[] = [];
  await expect.poll(async () => (claimed = await other.claimDue(NOW))).toMatchObject([{ no: run }]);
  expect(Date.now() - (claimed[0]?.lostAt ?? 0)).toBeGreaterThan(8_000);
  expect(await other.claim(run), "whoever loads it is told the same").toMatchObject({ lostAt: claimed[0]?.lostAt });
  const late = [{ run, afterSeq: 1, events: [{ event: started("late") }] }];
  expect(await zombie.append(late, "late")).toMatchObject([{ reason: "fenced" }]);
  expect(await other.append([{ run, afterSeq: 1, events: [{ event: started("b") }] }])).toEqual([{ ok: true }]);
  expect(await other.claim(run), "from then on nothing of it is lost").toMatchObject({ lostAt: null });
  expect(await zombie.claimDue(NOW)).toEqual([]);
  await expect.poll(() => losses).toBe(1);
  const next = await createRun(zombie, "next");
  expect(await readPaths(zombie, next)).toEqual(["step1"]);
  expect(await readPaths(zombie, run)).toEqual(["step1", "b"]);
});

test("whoever follows the order of all runs misses nothing while many write and a transaction stays open", async () => {
  const { journals, client } = await openSome(4);
  const [reader, ...writers] = journals;
  // It has its number before all others, and commits after them.
  await client.query("BEGIN");
  await client.query("INSERT INTO deleted_runs (no) VALUES (pg_current_xact_id()::text::bigint + 1000000)");
  const writing = Promise.all(
    writers.map(async (journal, n) => {
      const run = await createRun(journal, `w${n}`, { count: 0 });
      for (let seq = 0; seq < 60; seq += 1)
        await journal.append([{ run, afterSeq: seq, events: [{ event: started(`${seq + 1}`) }] }]);
    }),
  );
  const seen: string[] = [];
  const readOn = async (after: typeof LOG_BEGIN) => {
    const { events, end } = await reader.readLog({ after, limit: 7 });
    for (const { run, seq } of events) seen.push(`${run.id} ${seq}`);
    return isBefore(after, end) ? end : after;
  };
  let place = LOG_BEGIN;
  const isWritten = writing.then(() => true);
  while (!(await Promise.race([isWritten, setTimeout(1, false)]))) place = await readOn(place);
  expect(seen).toEqual([]);
  await client.query("COMMIT");
  for (let before = place; ; before = place) {
    place = await readOn(place);
    if (before === place) break;
  }
  for (const [n] of writers.entries()) {
    const own = seen.filter((event) => event.startsWith(`w${n} `));
    expect(own).toEqual(Array.from({ length: 60 }, (_, seq) => `w${n} ${seq + 1}`));
  }
  expect(seen).toHaveLength(60 * writers.length);
});

test("tenants have turns: many runs of one hold up nobody else's", async () => {
  const { journals } = await openSome(2);
  const [one, other] = journals;
  const tenants = ["a", "a", "a", "a", "a", "a", undefined, undefined, "b"];
  const runs: number[] = [];
  for (const [n, tenantId] of tenants.entries())
    runs.push(await createRun(one, `r${n}`, tenantId === undefined ? {} : { more: { tenantId } }));
  await one.release(runs);
  const take = async (limit: number) =>
    (await other.claimDue({ ...NOW, limit })).map(({ no }) => tenants[runs.indexOf(no)]);
  expect((await take(3)).toSorted()).toEqual(["a", "b", undefined]);
  // It drives one of each by now.
  expect((await take(2)).toSorted()).toEqual(["a", undefined]);
  expect((await take(10)).length).toBe(4);
});

test("a process that was taken for dead claims nothing, and what nobody is responsible for is found", async () => {
  const { journals, client } = await openSome(2);
  const [zombie, other] = journals;
  const [free, orphan] = [await createRun(other, "free"), await createRun(other, "orphan")];
  await other.release([free, orphan]);
  await client.query("DELETE FROM workers WHERE id <> (SELECT id FROM workers ORDER BY until LIMIT 1)");
  expect([await zombie.claim(free), await zombie.claimDue(NOW)]).toEqual([undefined, []]);
  await client.query("UPDATE runs SET owner = 'nobody' WHERE id = 'orphan'");
  const claimed: ClaimedRun[] = [];
  await expect.poll(async () => claimed.push(...(await other.claimDue(NOW)))).toBe(2);
  expect(claimed.map(({ no }) => no).toSorted((a, b) => a - b)).toEqual([free, orphan]);
});

test("a run that a process creates while it is taken for dead is found by the others", async () => {
  const { journals, client, url } = await openSome(2);
  const [zombie, other] = journals;
  const run = await createRun(zombie, "first");
  const own = (await client.query("SELECT owner FROM runs WHERE no = $1", [run])).rows[0].owner;
  // A commit of the process holds its row while others wait to delete it.
  const late = new pg.Client({ connectionString: url });
  await late.connect();
  onTestFinished(() => late.end());
  await late.query("BEGIN");
  await late.query("SELECT 1 FROM workers WHERE id = $1 FOR KEY SHARE", [own]);
  const expired = "seen_at = now() - interval '9 seconds', until = now() - interval '1 second'";
  await client.query(`UPDATE workers SET ${expired} WHERE id = $1`, [own]);
  const waiting =
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pawl_reap%'";
  await expect.poll(async () => (await client.query(waiting)).rows[0].count).toBeGreaterThan(0);
  const columns =
    "workflow_name, dialect, graph, definition, status, parked, cost_micro, uncertain_micro, open_approvals, created_at, epoch, owner";
  await late.query(
    `INSERT INTO runs (no, id, ${columns}) SELECT no + 1000, 'late', ${columns} FROM runs WHERE no = $1`,
    [run],
  );
  await late.query("COMMIT");
  const claimed: string[] = [];
  const claim = async () => claimed.push(...(await other.claimDue(NOW)).map(({ id }) => id));
  await expect.poll(claim).toBe(2);
  expect(claimed.toSorted()).toEqual(["first", "late"]);
});
