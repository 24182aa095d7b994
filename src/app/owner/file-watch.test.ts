import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { FileWatch } from "../seat/take-file-seat.ts";

const LONG_MS = 4_000;

afterEach(() => {
  vi.useRealTimers();
});

interface Locked {
  readonly file?: string;
  /** Whether commits are made meanwhile. */
  readonly commits: boolean;
}

/** A watch beside a connection that holds the lock whenever it looks. */
function watchLocked({ file = "pawl.db", commits }: Locked): FileWatch {
  const dataDir = mkdtempSync(join(tmpdir(), "pawl-watch-"));
  const holder = new DatabaseSync(join(dataDir, file));
  holder.exec("CREATE TABLE t (x); BEGIN IMMEDIATE");
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const journal = {
    findTrouble: () => undefined,
    get committedAt() {
      return commits ? performance.now() : Number.NEGATIVE_INFINITY;
    },
  };
  const watch = new FileWatch(dataDir, journal);
  onTestFinished(() => {
    watch.stop();
    holder.close();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });
  watch.start({ isOn: () => false, write: () => undefined });
  vi.advanceTimersByTime(LONG_MS);
  return watch;
}

test("a lock that another program keeps is trouble", () => {
  expect(watchLocked({ commits: false }).trouble?.code).toBe("JOURNAL_IO");
});

test("a lock that is there at each look is none while commits are made: it is that of this process", () => {
  expect(watchLocked({ commits: true }).trouble).toBeUndefined();
});

test("commits to the journal excuse no lock of another file", () => {
  expect(watchLocked({ file: "service.db", commits: true }).trouble?.code).toBe("JOURNAL_IO");
});
