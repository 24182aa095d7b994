import { expect, onTestFinished, test } from "vitest";
import { PostgresWay } from "../chaos/cluster/postgres-way.ts";
import { openTestJournal } from "../support/open-test-journal.ts";
import { newTestDatabase } from "../support/test-database.ts";
import { createRun } from "./journal-samples.ts";

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
  return { way, journal, other };
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
