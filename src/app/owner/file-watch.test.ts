import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { FileWatch } from "./file-watch.ts";

const LONG_MS = 4_000;

afterEach(() => {
  vi.useRealTimers();
});

/** A watch beside a connection that holds the lock whenever it looks. `commits`: whether commits are made meanwhile. */
function watchLocked({ commits }: { readonly commits: boolean }): FileWatch {
  const dataDir = mkdtempSync(join(tmpdir(), "pawl-watch-"));
  const holder = new DatabaseSync(join(dataDir, "pawl.db"));
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
