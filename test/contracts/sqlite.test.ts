import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Journal, NewEvent } from "../../src/ports/journal.ts";
import {
  SELECT_ACTIVE,
  SELECT_AWAKE,
  SELECT_COMMITS,
  SELECT_EVENTS,
  SELECT_NEWEST_COMMIT,
  SELECT_NEXT_WAKE_AT,
  SELECT_OUTBOX,
  SELECT_OUTBOX_OF_KIND,
  SELECT_RUN,
  SELECT_RUN_BY_ID,
  SELECT_RUNS_BY_PREFIX,
  SUM_APPROVALS,
} from "../../src/storage/sql/journal-statements.ts";
import { countByStatusQuery, createdWithinQuery, listRunsQuery } from "../../src/storage/sql/list-queries.ts";
import type { SqliteOptions } from "../../src/storage/sqlite/open-database.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { createRun, newRun, readPaths, readWholeLog, reserveRuns, started } from "./journal-samples.ts";
import { temporaryFolder } from "./temporary-folder.ts";

function newPath(): string {
  return join(temporaryFolder(), "pawl.db");
}

function openJournal(path: string, more: Partial<SqliteOptions> = {}): Journal {
  const journal = openSqliteJournal({ path, durability: "power", ...more });
  onTestFinished(() => journal.close().catch(() => undefined));
  return journal;
}

function large(count: number): readonly NewEvent[] {
  return Array.from({ length: count }, () => ({ event: started("large"), value: `"${"x".repeat(10_000)}"` }));
}

describe("a full disk", () => {
  test("writes nothing of the batch, and what is smaller still goes in", async () => {
    const path = newPath();
    const journal = openSqliteJournal({ path, durability: "power", maxPages: 60 });
    const [a, b] = [await createRun(journal, "a"), await createRun(journal, "b")];

    const tooMuch = journal.append([
      { run: a, afterSeq: 1, events: [{ event: started("lost") }] },
      { run: b, afterSeq: 1, events: large(100), pins: [{ hash: "h", text: "lost" }] },
    ]);
    await expect(tooMuch).rejects.toMatchObject({ code: "JOURNAL_FULL", message: expect.stringContaining(path) });
    expect(await readPaths(journal, a)).toEqual(["step1"]);
    expect(await journal.readPinned("h")).toBeUndefined();

    const smaller = [
      { run: a, afterSeq: 1, events: [{ event: started("kept") }], pins: [{ hash: "h", text: "kept" }] },
    ];
    expect(await journal.append(smaller)).toEqual([{ ok: true }]);
    expect(await journal.readPinned("h")).toBe("kept");
    await journal.close();
  });

  test("is no loss: with room again the same batch goes in", async () => {
    const path = newPath();
    const full = openJournal(path, { maxPages: 60 });
    const run = await createRun(full, "a");
    const batch = [{ run, afterSeq: 1, events: large(100) }];
    await expect(full.append(batch)).rejects.toMatchObject({ code: "JOURNAL_FULL" });
    await full.close();

    const roomy = openJournal(path);

    expect(await roomy.append(batch)).toEqual([{ ok: true }]);
    expect(await readPaths(roomy, run)).toHaveLength(101);
  });
});

describe("one entry that SQLite refuses", () => {
  test("is dropped alone, and reported", async () => {
    const journal = openJournal(newPath());
    const [a, b, c] = [await createRun(journal, "a"), await createRun(journal, "b"), await createRun(journal, "c")];
    // Not representable in JSON: a defect of the caller, in one of three runs.
    const ring: unknown[] = [];
    ring.push(ring);
    const broken = { type: "timerFired", at: 1, timer: ring as unknown as string } as const;

    const results = await journal.append([
      { run: a, afterSeq: 1, events: [{ event: started("of a") }] },
      { run: b, afterSeq: 1, events: [{ event: started("of b") }, { event: broken }] },
      { run: c, afterSeq: 1, events: [{ event: started("of c") }] },
    ]);

    expect(results).toMatchObject([{ ok: true }, { ok: false, reason: "refused" }, { ok: true }]);
    expect(await readPaths(journal, b)).toEqual(["step1"]);
    expect(await readPaths(journal, c)).toEqual(["step1", "of c"]);
  });

  test("is dropped alone where only a statement finds it, with all that it would have written", async () => {
    const journal = openJournal(newPath());
    const [a, b, c] = [await createRun(journal, "a"), await createRun(journal, "b"), await createRun(journal, "c")];
    const broken = { event: started("of b"), value: {} as unknown as string };
    const entries = [a, b, b, c].map((run, index) => ({
      run,
      afterSeq: 1,
      events: index === 1 ? [{ event: started("first") }, broken] : [{ event: started(`entry ${index}`) }],
      patch: { costMicro: index },
    }));
    expect(await journal.append(entries)).toMatchObject([
      { ok: true },
      { reason: "refused" },
      { ok: true },
      { ok: true },
    ]);
    expect(await readPaths(journal, b)).toEqual(["step1", "entry 2"]);
    expect(await journal.readRun(b)).toMatchObject({ costMicro: 2 });
    expect(await readPaths(journal, c)).toEqual(["step1", "entry 3"]);
  });

  test("a second writer beside the owner loses by conflict, entry by entry", async () => {
    const path = newPath();
    const owner = openJournal(path);
    const [a, b] = [await createRun(owner, "a"), await createRun(owner, "b")];
    const intruder = openJournal(path);
    await intruder.append([{ run: a, afterSeq: 1, events: [{ event: started("of the intruder") }] }]);

    const results = await owner.append([
      { run: a, afterSeq: 1, events: [{ event: started("of the owner") }] },
      { run: b, afterSeq: 1, events: [{ event: started("of the owner") }] },
    ]);

    expect(results).toMatchObject([{ ok: false, reason: "conflict" }, { ok: true }]);
    expect(await readPaths(owner, a)).toEqual(["step1", "of the intruder"]);
  });
});

describe("beside an owner", () => {
  test("a reader sees what is committed, as soon as it is", async () => {
    const path = newPath();
    const owner = openJournal(path);
    const run = await createRun(owner, "a");
    const reader = openJournal(path, { readOnly: true });

    await owner.append([{ run, afterSeq: 1, events: [{ event: started("b") }] }]);

    expect(await readPaths(reader, run)).toEqual(["step1", "b"]);
    expect(await reader.readRun(run)).toMatchObject({ lastSeq: 2 });
  });

  test("another process can read while commits go on", async () => {
    const path = newPath();
    const owner = openJournal(path);
    const run = await createRun(owner, "a", { count: 50 });
    const source = `
      import { openSqliteJournal } from ${JSON.stringify(new URL("../../src/storage/sqlite/sqlite-journal.ts", import.meta.url))};
      const journal = openSqliteJournal({ path: ${JSON.stringify(path)}, durability: "power", readOnly: true });
      console.log((await journal.readEvents(${run}, { afterSeq: 0, limit: 100 })).length);
      await journal.close();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });

    await once(child, "close");

    expect(output.trim()).toBe("50");
    expect(await owner.append([{ run, afterSeq: 50, events: [{ event: started("on") }] }])).toEqual([{ ok: true }]);
  });

  test("a reader reads what a killed owner left, and changes nothing", async () => {
    const path = newPath();
    const owner = openJournal(path);
    const run = await createRun(owner, "a", { count: 3 });
    const copy = newPath();
    for (const suffix of ["", "-wal"]) writeFileSync(copy + suffix, readFileSync(path + suffix));

    const reader = openJournal(copy, { readOnly: true });

    expect(await readPaths(reader, run)).toHaveLength(3);
    const writing = reader.append([{ run, afterSeq: 3, events: [{ event: started("b") }] }]);
    await expect(writing).rejects.toMatchObject({ code: "JOURNAL_IO" });
  });

  test("there is nothing to read where there is no file", () => {
    expect(() => openJournal(newPath(), { readOnly: true })).toThrow(expect.objectContaining({ code: "JOURNAL_IO" }));
  });
});

describe("opening", () => {
  test("a file of a newer Pawl is refused", async () => {
    const path = newPath();
    await openJournal(path).close();
    edit(path, "PRAGMA user_version = 999");
    expect(() => openJournal(path)).toThrow(expect.objectContaining({ code: "JOURNAL_NEWER" }));
  });

  test("another program's database is refused and left alone", () => {
    const path = newPath();
    edit(path, "CREATE TABLE mine (x)");
    const before = readFileSync(path);

    expect(() => openJournal(path)).toThrow(expect.objectContaining({ code: "JOURNAL_DAMAGED" }));

    expect(readFileSync(path)).toEqual(before);
  });

  test("a log whose file is lost is not played into a new one", async () => {
    const path = newPath();
    await createRun(openJournal(path), "a");
    renameSync(path, `${path}.lost`);

    expect(() => openSqliteJournal({ path, durability: "power" })).toThrow(
      expect.objectContaining({ code: "JOURNAL_DAMAGED", message: expect.stringContaining("-wal") }),
    );
  });

  test("what an interrupted creation left behind does not matter", async () => {
    const path = newPath();
    writeFileSync(`${path}.new`, "half a file");
    const journal = openJournal(path);
    expect(await createRun(journal, "a")).toBe(1);
  });

  test("a path that cannot be is a typed error", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const path = join(folder, "file", "pawl.db");
    expect(() => openJournal(path)).toThrow(expect.objectContaining({ code: "JOURNAL_IO" }));
  });
});

describe("the order of all runs", () => {
  test("takes one row for a run that goes on alone, also through a restart, and is whole", async () => {
    const path = newPath();
    const first = openJournal(path);
    const a = await createRun(first, "a", { count: 2 });
    await first.append([{ run: a, afterSeq: 2, events: [{ event: started("a3") }] }]);
    await first.close();

    const journal = openJournal(path);
    await journal.append([{ run: a, afterSeq: 3, events: [{ event: started("a4") }] }]);
    await createRun(journal, "b");
    await journal.append([{ run: a, afterSeq: 4, events: [{ event: started("a5") }] }]);

    for (const limit of [1, 2, 100]) {
      expect(await readWholeLog(journal, { limit })).toEqual(["a1", "a2", "a3", "a4", "b1", "a5"]);
    }
    const database = new DatabaseSync(path, { readOnly: true });
    onTestFinished(() => database.close());
    expect(database.prepare("SELECT count(*) AS rows FROM commits").get()).toEqual({ rows: 3 });
  });
});

describe("damage that SQLite cannot see", () => {
  test.each([
    ["the first event", 1],
    ["an event in the middle", 5],
  ])("%s missing is JOURNAL_DAMAGED and names the run", async (_what, seq) => {
    const path = newPath();
    const journal = openJournal(path);
    const run = await createRun(journal, "the-run", { count: 10 });
    edit(path, `DELETE FROM events WHERE id = ${run * 2 ** 24 + seq}`);

    const reading = journal.readEvents(run, { afterSeq: 0, limit: 100 });

    await expect(reading).rejects.toMatchObject({
      code: "JOURNAL_DAMAGED",
      message: expect.stringMatching(`event ${seq} of run the-run`),
    });
  });

  test("a body that is no JSON is JOURNAL_DAMAGED", async () => {
    const path = newPath();
    const journal = openJournal(path);
    const run = await createRun(journal, "a");
    edit(path, "UPDATE events SET body = '{'");
    await expect(journal.readEvents(run, { afterSeq: 0, limit: 1 })).rejects.toMatchObject({ code: "JOURNAL_DAMAGED" });
  });

  test("an event of a type that is not known is JOURNAL_NEWER", async () => {
    const path = newPath();
    const journal = openJournal(path);
    const run = await createRun(journal, "a");
    edit(path, "UPDATE events SET type = 'stepTeleported'");
    await expect(journal.readEvents(run, { afterSeq: 0, limit: 1 })).rejects.toMatchObject({ code: "JOURNAL_NEWER" });
  });
});

describe("questions use indexes", () => {
  const SLICE = { first: 1, last: 2 };

  function planOf(database: DatabaseSync, text: string): string {
    return database
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...(text.match(/\?/g) ?? []).map(() => 1))
      .map((row) => row["detail"])
      .join("\n");
  }

  test.each([
    ["claimDue, active", SELECT_ACTIVE, /USING INDEX runs_active \(no>\?\)/],
    ["claimDue, awake", SELECT_AWAKE, /USING INDEX runs_asleep \(wake_at>\? AND wake_at<\?\)/],
    ["nextWakeAt", SELECT_NEXT_WAKE_AT, /USING (COVERING )?INDEX runs_asleep/],
    ["readRun", SELECT_RUN, /runs USING INTEGER PRIMARY KEY/],
    ["findRun by id", SELECT_RUN_BY_ID, /sqlite_autoindex_runs_1 \(id=\?\)/],
    ["findRun by prefix", SELECT_RUNS_BY_PREFIX, /sqlite_autoindex_runs_1 \(id>\? AND id<\?\)/],
    ["readEvents", SELECT_EVENTS, /events USING INTEGER PRIMARY KEY/],
    ["readLog", SELECT_COMMITS, /commits USING INTEGER PRIMARY KEY \(rowid>\?\)/],
    ["findCommit", SELECT_NEWEST_COMMIT, /^(?!.*TEMP B-TREE)/s],
    ["countApprovals", SUM_APPROVALS, /USING COVERING INDEX runs_asking/],
    ["listRuns that ask", listRunsQuery({ hasApprovals: true, limit: 1 }, SLICE).text, /USING INDEX runs_asking/],
    ["readOutbox", SELECT_OUTBOX, /USING INDEX outbox_open/],
    ["readOutbox of a kind", SELECT_OUTBOX_OF_KIND, /USING INDEX outbox_open_by_kind \(kind=\? AND id>\?\)/],
    [
      "listRuns by status",
      listRunsQuery({ status: ["failed", "partial"], limit: 1 }, SLICE).text,
      /USING INDEX runs_by_status \(status=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [
      "listRuns by workflow",
      listRunsQuery({ workflow: "w", limit: 1 }, SLICE).text,
      /USING INDEX runs_by_workflow \(workflow_name=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [
      "listRuns by tenant",
      listRunsQuery({ tenantId: "t", limit: 1 }, SLICE).text,
      /USING INDEX runs_by_tenant \(tenant_id=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [
      "listRuns by time",
      listRunsQuery({ createdFrom: 1, createdBefore: 2, limit: 1 }, SLICE).text,
      /runs USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/,
    ],
    [
      "countRunsByStatus",
      countByStatusQuery({}, SLICE).text,
      /runs USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/,
    ],
    [
      "countRunsByStatus of a workflow",
      countByStatusQuery({ workflow: "w" }, SLICE).text,
      /USING INDEX runs_by_workflow \(workflow_name=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [
      "listRuns that are held",
      listRunsQuery({ status: ["waiting"], holdsSteps: true, limit: 1 }, SLICE).text,
      /USING INDEX runs_by_status \(status=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [
      "the numbers of a time",
      createdWithinQuery({ createdFrom: 1, createdBefore: 2 }, 1)?.text ?? "",
      /USING COVERING INDEX runs_by_creation \(created_at>\? AND created_at<\?\)/,
    ],
    [
      "listRuns, next page",
      listRunsQuery({ limit: 1 }, SLICE).text,
      /runs USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/,
    ],
  ])("%s", async (_what, text, expected) => {
    const path = newPath();
    await openJournal(path).close();
    const database = new DatabaseSync(path);
    onTestFinished(() => database.close());

    const plan = planOf(database, text);

    expect(plan).toMatch(expected);
    expect(plan).not.toMatch(/SCAN events/);
  });

  test("a start leaves parked runs alone that are not due, and knows when the next is", async () => {
    const path = newPath();
    const journal = openJournal(path, { durability: "process" });
    const numbers = await reserveRuns(journal, 1_000);
    const parked = numbers.map((run, index) => ({
      run,
      afterSeq: 0,
      create: newRun(`parked-${index}`),
      events: [],
      patch: { status: "awaiting_approval", parked: true, ...(index % 2 === 0 && { wakeAt: 1_000_000 }) } as const,
    }));
    await journal.append(parked);
    const active = await createRun(journal, "active");
    await journal.close();

    const opened = openJournal(path);
    const due = await opened.claimDue({ now: 1_000, afterRun: 0, limit: 1_000 });
    const wakeAt = await opened.nextWakeAt();

    expect(due.map(({ no }) => no)).toEqual([active]);
    expect(wakeAt).toBe(1_000_000);
    rmSync(path);
  });
});

/** Changes the file behind the journal's back. */
function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}
