import { expect, onTestFinished, test } from "vitest";
import { programOf } from "../../support/needs.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { startPooler } from "../../support/pooler.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { createRun, readPaths, readWholeLog, reserveRuns, started } from "../journal-samples.ts";

/** The address of a database by way of pgbouncer, until the test ends. */
async function openPooler(url: string): Promise<string> {
  const pooler = await startPooler(programOf("pgbouncer"), url);
  onTestFinished(() => pooler.stop());
  return pooler.url;
}

test("behind a pooler that gives each transaction another session everything works as without it", async () => {
  const url = await openPooler(await newTestDatabase());
  const journals = await Promise.all([openTestJournal(url), openTestJournal(url), openTestJournal(url)]);
  onTestFinished(async () => {
    for (const journal of journals) await journal.close();
  });
  const [first] = journals;
  await reserveRuns(first, 10);
  await Promise.all(
    journals.map(async (journal, n) => {
      const run = await createRun(journal, `w${n}`);
      for (let seq = 1; seq < 30; seq += 1) {
        const entry = { run, afterSeq: seq, events: [{ event: started(`s${seq}`) }] };
        // One of them is refused, and is done again in a transaction.
        const results = await journal.append(
          seq % 7 === 0 ? [{ ...entry, afterSeq: 99 }, entry] : [entry],
          `${n} ${seq}`,
        );
        expect(results.at(-1)).toEqual({ ok: true });
      }
      expect(await readPaths(journal, run)).toHaveLength(30);
    }),
  );
  await expect.poll(async () => (await readWholeLog(first, { limit: 50 })).length).toBe(90);
});
