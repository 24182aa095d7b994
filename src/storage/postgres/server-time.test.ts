import { expect, onTestFinished, test, vi } from "vitest";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { ServerTime } from "./server-time.ts";

const HOUR_MS = 3_600_000;

test("a machine whose clock is an hour off goes by the server's, and no slow exchange changes that", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let tookMs = 20;
  const database = {
    async get() {
      // The server reads its clock in the middle of the exchange.
      vi.setSystemTime(Date.now() + tookMs / 2);
      const now = Date.now() + HOUR_MS;
      vi.setSystemTime(Date.now() + tookMs / 2);
      return { now };
    },
  } as unknown as SqlDatabase;
  const time = await ServerTime.read(database);
  onTestFinished(() => time.close());
  expect(time.offsetMs).toBe(HOUR_MS);
  tookMs = 30_000;
  vi.setSystemTime(Date.now() + HOUR_MS);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(time.offsetMs).toBe(HOUR_MS);
});
