import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createInvocationJournal } from "../../../src/hosts/restate/invocation-journal.ts";
import { InvocationClaims } from "../../../src/hosts/restate/run-driver.ts";
import { PostgresWay } from "../../chaos/cluster/postgres-way.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun } from "../journal-samples.ts";

const NOW = { now: 0, afterRun: 0, limit: 100 };

/** A journal whose connections can be cut, and another one on the same database. */
async function openTwo() {
  const url = new URL(await newTestDatabase());
  const way = await PostgresWay.open(`${url.searchParams.get("host")}/.s.PGSQL.5432`);
  const journal = await openTestJournal(`postgresql://pawl@127.0.0.1:${way.port}${url.pathname}`);
  const other = await openTestJournal(url.href);
  onTestFinished(async () => {
    await Promise.all([journal.close(), other.close()]);
    way.close();
  });
  return { way, journal, other, url: url.href };
}

test("runs that were claimed while the connection was cut are found again by whoever has claimed them", async () => {
  const { way, journal, other } = await openTwo();
  const run = await createRun(other, "r");
  await other.release([run]);
  expect(await journal.claimDue({ ...NOW, afterRun: run })).toEqual([]);
  way.cutAfter(1, "answer");
  await expect(journal.claimDue(NOW)).rejects.toMatchObject({ code: "JOURNAL_IO" });
  expect(await other.claimDue(NOW), "it was claimed all the same").toEqual([]);
  expect(await journal.claimDue(NOW)).toMatchObject([{ no: run, lastSeq: 1 }]);
  expect(await journal.claimDue(NOW)).toEqual([]);
});

test("a run is found that a claim takes only after its connection was cut", async () => {
  const { way, journal, other, url } = await openTwo();
  const run = await createRun(other, "r");
  await other.release([run]);
  const client = new pg.Client({ connectionString: url });
  onTestFinished(() => client.end());
  await client.connect();
  // The claim waits for the row, and is done when nobody listens any more.
  await client.query("BEGIN; LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE");
  const claiming = journal.claimDue(NOW);
  claiming.catch(() => undefined);
  const waiting =
    "SELECT pg_stat_clear_snapshot(); SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%pawl_claim_due%'";
  const countWaiting = async () => {
    const results = (await client.query(waiting)) as unknown as readonly pg.QueryResult[];
    return results[1]?.rowCount;
  };
  await expect.poll(countWaiting).toBe(1);
  way.cutAll();
  await expect(claiming).rejects.toMatchObject({ code: "JOURNAL_IO" });
  const next = journal.claimDue(NOW);
  await expect.poll(countWaiting).toBe(2);
  await client.query("COMMIT");
  expect(await next, "the one that was cut was first").toEqual([]);
  await expect.poll(() => journal.claimDue(NOW)).toMatchObject([{ no: run, lastSeq: 1 }]);
});

test("a run that could not be let go of is taken up again", async () => {
  const { way, journal, other } = await openTwo();
  const run = await createRun(journal, "r");
  way.cutAfter(1, "request");
  await expect(journal.release([run])).rejects.toMatchObject({ code: "JOURNAL_IO" });
  expect(await other.claimDue(NOW)).toEqual([]);
  expect(await journal.claimDue(NOW)).toMatchObject([{ no: run }]);
  await journal.release([run]);
  expect(await other.claimDue(NOW)).toMatchObject([{ no: run }]);
});

test("where Restate drives the runs, a run that was claimed while the connection was cut is left to others", async () => {
  const { way, journal, other } = await openTwo();
  const run = await createRun(other, "r");
  await other.release([run]);
  const claims = new InvocationClaims(false);
  const driven = createInvocationJournal(journal, claims, { created: () => undefined, unloaded: () => undefined });
  expect(await driven.claim(run), "its invocation is not here").toBeUndefined();
  claims.allow(run);
  way.cutAfter(1, "answer");
  await expect(driven.claim(run)).rejects.toMatchObject({ code: "JOURNAL_IO" });
  expect(await other.claim(run), "it was claimed all the same").toBeUndefined();
  expect(await driven.claimDue(NOW)).toEqual([]);
  expect(await other.claim(run)).toMatchObject({ no: run });
});
