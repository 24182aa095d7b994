import { describe, expect, test } from "vitest";
import { openFireTimes, openZonedTime } from "./fire-times.ts";

interface Night {
  readonly cron: string;
  readonly timezone: string;
  readonly after: string;
}

async function timesOf({ cron, timezone, after }: Night, count: number): Promise<readonly string[]> {
  const times = await openFireTimes({ cron, timezone });
  const shown: string[] = [];
  let slot = times.next(Date.parse(after));
  for (; slot !== undefined && shown.length < count; slot = times.next(slot)) shown.push(openZonedTime(timezone)(slot));
  return shown;
}

const DAILY = [
  {
    name: "Berlin leaves the time out",
    night: { cron: "30 2 * * *", timezone: "Europe/Berlin", after: "2026-03-28T12:00Z" },
    times: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
  },
  {
    name: "Berlin has the time twice",
    night: { cron: "30 2 * * *", timezone: "Europe/Berlin", after: "2026-10-24T12:00Z" },
    times: ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"],
  },
  {
    name: "Berlin leaves one of two times out",
    night: { cron: "30 2,14 * * *", timezone: "Europe/Berlin", after: "2026-03-28T20:00Z" },
    times: ["2026-03-29T03:00:00+02:00", "2026-03-29T14:30:00+02:00", "2026-03-30T02:30:00+02:00"],
  },
  {
    name: "New York leaves the time out",
    night: { cron: "30 2 * * *", timezone: "America/New_York", after: "2026-03-07T12:00Z" },
    times: ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"],
  },
  {
    name: "New York has the time twice",
    night: { cron: "30 1 * * *", timezone: "America/New_York", after: "2026-10-31T12:00Z" },
    times: ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"],
  },
  {
    name: "Lord Howe leaves half an hour out",
    night: { cron: "15 2 * * *", timezone: "Australia/Lord_Howe", after: "2026-10-03T00:00Z" },
    times: ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"],
  },
  {
    name: "Lord Howe has half an hour twice",
    night: { cron: "45 1 * * *", timezone: "Australia/Lord_Howe", after: "2026-04-04T00:00Z" },
    times: ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"],
  },
];

describe("a time of the day is due once, in a night in which", () => {
  test.each(DAILY)("$name", async ({ night, times }) => {
    expect(await timesOf(night, times.length)).toEqual(times);
  });
});

test.each([
  ["Europe/Berlin", "2026-03-28T22:00Z"],
  ["Europe/Berlin", "2026-10-24T22:00Z"],
  ["America/New_York", "2026-03-08T04:00Z"],
  ["America/New_York", "2026-11-01T04:00Z"],
])("every hour has its slot in %s in the night of %s", async (timezone, after) => {
  const times = await openFireTimes({ cron: "0 * * * *", timezone });
  const slots: number[] = [];
  for (let slot = Date.parse(after); slots.length < 12; ) {
    const next = times.next(slot);
    if (next === undefined) break;
    slots.push(next - slot);
    slot = next;
  }
  expect(slots).toEqual(Array.from({ length: 12 }, () => 3_600_000));
});

test("slots that have passed are counted one by one up to 250, and the last hundred are known", async () => {
  const first = Date.UTC(2026, 0, 1);
  const minutes = await openFireTimes({ cron: "* * * * *", timezone: "UTC" });
  const few = await minutes.between(first, first + 3 * 60_000 + 1);
  expect(few).toEqual({ first, count: 4, latest: [0, 1, 2, 3].map((n) => first + n * 60_000) });
  const now = first + 365 * 86_400_000;
  const many = await minutes.between(first, now);
  expect(many.count).toBe(250);
  expect(many.latest.slice(-2)).toEqual([now - 60_000, now]);
});

test.each([
  ["x", "UTC", "CRON_INVALID"],
  ["60 * * * *", "UTC", "CRON_INVALID"],
  ["? * * * *", "UTC", "CRON_INVALID"],
  ["* * * * * *", "UTC", "CRON_INVALID"],
  ["@reboot", "UTC", "CRON_INVALID"],
  ["@every 5m", "UTC", "CRON_INVALID"],
  ["0 22-2 * * *", "UTC", "CRON_INVALID"],
  ["* * * * *", "Mars/Olympus", "TIMEZONE_INVALID"],
  ["* * * * *", "+01:00", "TIMEZONE_INVALID"],
])("%s in %s is refused with %s", async (cron, timezone, code) => {
  await expect(openFireTimes({ cron, timezone })).rejects.toMatchObject({ code });
});
