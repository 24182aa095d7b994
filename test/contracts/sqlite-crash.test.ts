import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { createRun, readPaths, started } from "./journal-samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const COMMIT_FOREVER = fileURLToPath(new URL("./commit-forever.ts", import.meta.url));

function openJournal(path: string): Journal {
  return openSqliteJournal({ path, durability: "power" });
}

function steps(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `step${index + 1}`);
}

test("after kill -9 every acknowledged commit is there, and the history has no hole", async () => {
  const path = join(temporaryFolder(), "pawl.db");
  for (let crash = 1; crash <= 5; crash += 1) {
    const acknowledged = await killAfterCommits(path, 10 * crash);

    const journal = openJournal(path);
    const record = await journal.findRun("crash");
    if (record === undefined || record === "ambiguous") throw new Error("The run is gone.");
    const paths = await readPaths(journal, record.no);
    await journal.close();

    expect(record.lastSeq).toBeGreaterThanOrEqual(acknowledged);
    expect(paths).toEqual(steps(record.lastSeq));
  }
});

/** Returns the last number that the child had acknowledged. */
async function killAfterCommits(path: string, commits: number): Promise<number> {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(process.execPath, [COMMIT_FOREVER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let acknowledged = 0;
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line);
    seen += 1;
    if (seen === commits) child.kill("SIGKILL");
  }
  await exited;
  return acknowledged;
}

/** A journal as a crash leaves it: some commits in the file, later ones only in its log. */
async function crashedJournal(): Promise<{
  readonly path: string;
  readonly run: number;
  readonly commits: readonly number[];
}> {
  const folder = temporaryFolder();
  const [living, path] = [join(folder, "living.db"), join(folder, "crashed.db")];
  const first = openJournal(living);
  const run = await createRun(first, "crash", { count: 20 });
  await first.close();

  const journal = openJournal(living);
  const commits = [20];
  for (let lastSeq = 20; lastSeq < 60; lastSeq += 4) {
    const events = [1, 2, 3, 4].map((n) => ({ event: started(`step${lastSeq + n}`), value: `"${"x".repeat(2_000)}"` }));
    await journal.append([{ run, afterSeq: lastSeq, events }]);
    commits.push(lastSeq + 4);
  }
  for (const suffix of ["", "-wal"]) copyFileSync(living + suffix, path + suffix);
  await journal.close();
  return { path, run, commits };
}

test("a log that is cut off anywhere leaves a shorter history of whole commits", async () => {
  const { path, run, commits } = await crashedJournal();
  const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];
  const positions = Array.from({ length: 120 }, (_, index) => Math.floor((log.length * index) / 119));

  const lengths: number[] = [];
  for (const position of positions) {
    writeFileSync(path, file);
    writeFileSync(`${path}-wal`, log.subarray(0, position));
    const journal = openJournal(path);
    const paths = await readPaths(journal, run);
    expect(paths).toEqual(steps(paths.length));
    expect(await journal.append([{ run, afterSeq: paths.length, events: [{ event: started("on") }] }])).toEqual([
      { ok: true },
    ]);
    await journal.close();
    lengths.push(paths.length);
  }

  expect(commits).toEqual(expect.arrayContaining(lengths));
  expect(lengths.at(-1)).toBe(60);
});

describe("a file that is cut off or overwritten", () => {
  const VALUE = `"${"x".repeat(500)}"`;

  /** What someone sees who opens the file and reads everything: damage, or the whole history. */
  async function openAndRead(path: string, run: number): Promise<string> {
    try {
      const journal = openJournal(path);
      try {
        const paths = await readPaths(journal, run);
        const values = await journal.readValues(
          run,
          paths.map((_, index) => index + 1),
        );
        return `${paths.length} events, ${[...values.values()].filter((value) => value === VALUE).length} values`;
      } finally {
        await journal.close();
      }
    } catch (error) {
      if (!isPawlError(error) || !error.message.includes(path)) throw error;
      return error.code;
    }
  }

  async function closedJournal(): Promise<{ readonly path: string; readonly run: number }> {
    const path = join(temporaryFolder(), "pawl.db");
    const journal = openJournal(path);
    const run = await journal.reserveRun();
    await createRun(journal, "unused");
    await journal.append([
      {
        run: run + 1,
        afterSeq: 1,
        events: steps(199).map((step) => ({ event: started(step), value: VALUE })),
      },
    ]);
    await journal.close();
    return { path, run: run + 1 };
  }

  test("is JOURNAL_DAMAGED wherever it is cut", async () => {
    const { path, run } = await closedJournal();
    const whole = readFileSync(path);
    expect(await openAndRead(path, run)).toBe("200 events, 199 values");

    const cuts = [
      0,
      1,
      15,
      16,
      50,
      99,
      100,
      101,
      511,
      512,
      4_095,
      4_096,
      4_097,
      8_192,
      whole.length - 4_096,
      whole.length - 1,
    ];
    for (const cut of cuts) {
      writeFileSync(path, whole.subarray(0, cut));
      expect(`${cut}: ${await openAndRead(path, run)}`).toBe(`${cut}: JOURNAL_DAMAGED`);
    }
  });

  test("is JOURNAL_DAMAGED when it is something else", async () => {
    const { path, run } = await closedJournal();
    writeFileSync(path, "garbage ".repeat(10_000));
    expect(await openAndRead(path, run)).toBe("JOURNAL_DAMAGED");
  });

  test("is never a raw error or a wrong history when any one page is overwritten", async () => {
    const { path, run } = await closedJournal();
    const whole = readFileSync(path);
    const pages = whole.length / 4_096;
    for (let page = 0; page < pages; page += 1) {
      writeFileSync(path, Buffer.from(whole).fill(0x5a, page * 4_096, (page + 1) * 4_096));
      expect(["JOURNAL_DAMAGED", "200 events, 199 values"]).toContain(await openAndRead(path, run));
    }
  });

  test("is JOURNAL_DAMAGED when it was cut while its log is there", async () => {
    const { path, run } = await crashedJournal();
    truncateSync(path, 0);
    expect(await openAndRead(path, run)).toBe("JOURNAL_DAMAGED");
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  });
});
