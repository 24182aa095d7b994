import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { type ClaimedRun, isBefore, type Journal, LOG_BEGIN } from "../../src/ports/journal.ts";
import { openTestJournal } from "../support/open-test-journal.ts";
import { newTestDatabase } from "../support/test-database.ts";
import { createRun, readPaths, started } from "./journal-samples.ts";

/** The first one shows no sign of life while a test lasts, and the others look often for who has died. */
async function openSome(count: number, lost: () => void = () => undefined) {
  const url = await newTestDatabase();
  const journals: Journal[] = [];
  for (let n = 0; n < count; n += 1) {
    const journal = await openTestJournal(url, { lost, leaseMs: n === 0 ? 60_000 : 400 });
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

test("of many that ask at once each gets other runs, and none is left", async () => {
  const { journals } = await openSome(4);
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
  const late = [{ run, afterSeq: 1, events: [{ event: started("late") }] }];
  expect(await zombie.append(late, "late")).toMatchObject([{ reason: "fenced" }]);
  expect(await other.append([{ run, afterSeq: 1, events: [{ event: started("b") }] }])).toEqual([{ ok: true }]);
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
