import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import { LocalHost } from "../../src/hosts/local/local-host.ts";
import type { RunHost } from "../../src/hosts/run-host.ts";
import type { Journal } from "../../src/ports/journal.ts";
import { openSqliteJournal } from "../../src/storage/sqlite/sqlite-journal.ts";
import { rounds } from "../properties/rounds.ts";
import { MemoryBlobs } from "../support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";
import { openTestJournal } from "../support/open-test-journal.ts";
import { RestateServer } from "../support/restate-server.ts";
import { newTestDatabase } from "../support/test-database.ts";
import { type DrawnRun, drawRun, historyOf, playersOf, playRun } from "./play-run.ts";
import { openRestateWorld } from "./restate-world.ts";

/** 1,000 with `PAWL_TEST_ROUNDS=40`. */
const RUNS = rounds(25);
const AT_ONCE = 10;

type Histories = ReadonlyMap<string, readonly string[]>;

describe.each([
  ["as it is", "1s", 1],
  ["replaying everything at each step", "0s", 3],
])("the same history as on SQLite and PostgreSQL alone, %s", (_, inactivityTimeout, attemptsOfARun) => {
  let server: RestateServer;

  beforeAll(async () => {
    server = await RestateServer.open();
  });

  afterAll(async () => {
    await server?.remove();
  });

  test(
    `${RUNS} drawn runs`,
    async () => {
      const runs = Array.from({ length: RUNS }, (__, seed) => drawRun(seed));
      const { executor, options } = playersOf(runs);
      const { host, journal } = await openRestateWorld(server, executor, { ...options, inactivityTimeout });
      const attempts = countAttempts();
      await playAll(host, journal, runs);
      expect(attempts()).toBeGreaterThanOrEqual(RUNS * attemptsOfARun);
      for (const open of [openSqlite, openPostgres]) {
        const alone = await playAlone(await open(), runs);
        for (const { id } of runs) expect(await historyOf(journal, id), id).toEqual(alone.get(id));
      }
    },
    // Each run waits and is answered, and each wait is an invocation that is taken up again.
    RUNS * 2_000,
  );
});

/** How often Restate has called the handlers of this process so far. */
function countAttempts(): () => number {
  let attempts = 0;
  const count = () => {
    attempts += 1;
  };
  subscribe("http2.server.stream.created", count);
  onTestFinished(() => {
    unsubscribe("http2.server.stream.created", count);
  });
  return () => attempts;
}

async function playAll(host: RunHost, journal: Journal, runs: readonly DrawnRun[]): Promise<void> {
  const work = runs.values();
  const play = async () => {
    for (const run of work) await playRun(host, journal, run);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
}

async function openSqlite(): Promise<Journal> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-alone-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return openSqliteJournal({ path: join(folder, "pawl.db"), durability: "process" });
}

async function openPostgres(): Promise<Journal> {
  return openTestJournal(await newTestDatabase());
}

async function playAlone(journal: Journal, runs: readonly DrawnRun[]): Promise<Histories> {
  const clock = new SystemClock();
  const { executor, options } = playersOf(runs);
  const host = new LocalHost({
    ...{ journal, clock, blobs: new MemoryBlobs(), files: new MemoryFileStorage() },
    findExecutor: async () => executor,
    resolveCall: () => Promise.reject(new Error("No calls here.")),
    mask: (text) => text,
    env: () => undefined,
    onDefect: (error) => console.error(error),
    ...options,
  });
  try {
    await playAll(host, journal, runs);
    const histories = new Map<string, readonly string[]>();
    for (const { id } of runs) histories.set(id, await historyOf(journal, id));
    return histories;
  } finally {
    await host.park(AbortSignal.abort());
    await journal.close();
    clock.stop();
  }
}
