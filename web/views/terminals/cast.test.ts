import { expect, test } from "vitest";
import { countUntil, readCast } from "./cast.ts";
import { type Step, secondsThen, statusThen } from "./status-then.ts";

const HEADER = { version: 2, width: 100, height: 20, timestamp: 1_700_000_000, title: "bash" };

function toText(header: object, ...lines: readonly unknown[]): string {
  return [header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
}

test("a recording is read without what is no event, such as a line that a killed process has not ended", () => {
  const text = toText(HEADER, [0.5, "o", "a"], [1, "r", "80x24"], [2, "m", "remark"], [1, "r", "9x-1"], '[3, "o", "cu');
  expect(readCast(text)).toMatchObject({
    columns: 100,
    rows: 20,
    startedAt: 1_700_000_000_000,
    events: [
      { is: "output", at: 0.5, text: "a" },
      { is: "size", at: 1, columns: 80, rows: 24 },
    ],
  });
});

test("the beginning is taken to the millisecond where that is there", () => {
  const started = "2026-11-24T12:00:00.250Z";
  expect(readCast(toText({ ...HEADER, started_at: started }))?.startedAt).toBe(Date.parse(started));
  for (const text of ["", "no JSON", "[]", '{"version": 3}']) expect(readCast(text)).toBeUndefined();
});

test("the events until a time are those at it or before", () => {
  const cast = readCast(toText(HEADER, [0, "o", "a"], [1, "o", "b"], [1, "o", "c"], [2, "o", "d"]));
  expect(cast && [-1, 0, 0.5, 1, 9].map((seconds) => countUntil(cast, seconds))).toEqual([0, 1, 1, 3, 4]);
});

test("a step is shown as it was at a time", () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString();
  const step = {
    status: "completed",
    queued_at: at(1),
    started_at: at(2),
    completed_at: at(9),
    waits: [{ kind: "retry", since: at(4), until: at(6), wake_at: null }],
  } as unknown as Step;
  expect([0, 1, 3, 5, 7, 9].map((seconds) => statusThen(step, seconds * 1_000))).toEqual([
    undefined,
    "queued",
    "running",
    "retrying",
    "running",
    "completed",
  ]);
  expect([1, 5, 20].map((seconds) => secondsThen(step, seconds * 1_000))).toEqual([undefined, 3, 7]);
});
