import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { newRun, started } from "./journal-samples.ts";

/**
 * A child process of the crash test: commits to one run for ever, and writes the run's last number to stdout as soon
 * as a commit is acknowledged.
 */
const [path = ""] = process.argv.slice(2);
const journal = openSqliteJournal({ path, durability: "power" });
const found = await journal.findRun("crash");
const known = found === undefined || found === "ambiguous" ? undefined : found;
const run = known?.no ?? (await journal.reserveRun());
let lastSeq = known?.lastSeq ?? 0;

for (;;) {
  const count = 1 + (lastSeq % 7);
  const events = Array.from({ length: count }, (_, index) => ({
    event: started(`step${lastSeq + index + 1}`),
    value: JSON.stringify("x".repeat((lastSeq * 37) % 3_000)),
  }));
  const create = lastSeq === 0 ? { create: newRun("crash") } : {};
  const [result] = await journal.append([{ run, afterSeq: lastSeq, ...create, events }]);
  if (result?.ok !== true) throw new Error(result?.message);
  lastSeq += count;
  process.stdout.write(`${lastSeq}\n`);
}
