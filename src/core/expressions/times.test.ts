import { expect, test } from "vitest";
import type { Json } from "../json.ts";
import { evaluate } from "./evaluate.ts";
import type { FunctionName } from "./expr.ts";

function call(fn: FunctionName, ...args: Json[]): Json | undefined {
  return evaluate(
    { op: "call", fn, args: args.map((value) => ({ op: "literal", value }) as const) },
    { path: () => undefined },
  );
}

const BERLIN = "Europe/Berlin";

test.each([
  ["2026-01-31", "P1M", "UTC", "2026-02-28T00:00:00.000Z"],
  ["2024-02-29", "P1Y", "UTC", "2025-02-28T00:00:00.000Z"],
  ["2026-03-31", "-P1M", "UTC", "2026-02-28T00:00:00.000Z"],
  ["2026-12-15T10:00:00Z", "P1M2W3DT4H5M6.5S", "UTC", "2027-02-01T14:05:06.500Z"],
  // A day of the calendar has 23 hours when the clock goes forward; `PT24H` and `1d` are time that passes.
  ["2026-03-28T12:00", "P1D", BERLIN, "2026-03-29T10:00:00.000Z"],
  ["2026-03-28T12:00", "PT24H", BERLIN, "2026-03-29T11:00:00.000Z"],
  ["2026-03-28T12:00", "1d", BERLIN, "2026-03-29T11:00:00.000Z"],
  // A gap moves on by its length, of two equal times it is the earlier.
  ["2026-03-29T02:30", "PT0S", BERLIN, "2026-03-29T01:30:00.000Z"],
  ["2026-10-25T02:30", "PT0S", BERLIN, "2026-10-25T00:30:00.000Z"],
  ["2026-10-04T02:15", "PT0S", "Australia/Lord_Howe", "2026-10-03T15:45:00.000Z"],
  ["2011-12-29T10:00", "P1D", "Pacific/Apia", "2011-12-30T20:00:00.000Z"],
  ["2026-05-01T00:00:00+05:30", "1h30m", "UTC", "2026-04-30T20:00:00.000Z"],
  ["2026-05-01T00:00", "PT1H", "+02:00", "2026-04-30T23:00:00.000Z"],
  ["1970-01-01", 1_790_000_000, "UTC", "2026-09-21T14:13:20.000Z"],
  ["1970-01-01", -1, "UTC", "1969-12-31T23:59:59.000Z"],
])("%s and %s in %s", (time, duration, zone, wanted) => {
  expect(call("addTime", time, duration, zone)).toBe(wanted);
});

test.each([
  ["2026-02-30", "P1D", "UTC"],
  ["soon", "P1D", "UTC"],
  ["2026-01-01", "P", "UTC"],
  ["2026-01-01", "PT", "UTC"],
  ["2026-01-01", "tomorrow", "UTC"],
  ["2026-01-01", "P1D", "Mars/Olympus"],
  ["2026-01-01", "P1D", "../../etc/passwd"],
  ["9999-12-31", "P1D", "UTC"],
  ["2026-01-01", "P999999999999999Y", "UTC"],
  ["2026-01-01", 2n ** 70n, "UTC"],
])("%s and %s in %s are nothing", (time, duration, zone) => {
  expect(call("addTime", time, duration, zone)).toBeUndefined();
});

test.each([
  ["2026-03-28T12:00", "2026-03-30T12:00", "hours", BERLIN, 47],
  ["2026-03-28T12:00", "2026-03-30T12:00", "days", BERLIN, 2],
  ["2026-01-01T00:00Z", "2026-01-01T01:30Z", "hours", "UTC", 1.5],
  ["2026-01-31", "2026-02-28", "months", "UTC", 1],
  ["2026-01-31", "2026-02-27", "months", "UTC", 0],
  ["2026-03-15", "2026-01-15", "months", "UTC", -2],
  ["2000-02-29", "2026-02-28", "years", "UTC", 26],
  ["2026-01-01", "2026-01-20", "weeks", "UTC", 2],
  ["2026-01-02", "2026-01-01", "seconds", "UTC", -86_400],
  ["0001-01-01", "9999-12-31", "years", "UTC", 9_998],
])("from %s to %s in %s of %s", (from, to, unit, zone, wanted) => {
  expect(call("timeBetween", from, to, unit, zone)).toBe(wanted);
});

test.each<[Json, string, string | undefined, string | undefined]>([
  ["2026-05-01T21:05:09.007Z", "yyyy-MM-dd HH:mm:ss.SSS", undefined, "2026-05-01 21:05:09.007"],
  ["2026-05-01T22:05:09Z", "EEEE, d. MMMM yyyy, h:mm a XXX", BERLIN, "Saturday, 2. May 2026, 12:05 AM +02:00"],
  ["2026-05-01", "'week of' dd.MM.yy", undefined, "week of 01.05.26"],
  ["2026-05-01", "yyyy-MM-ddTHH:mmXXX", undefined, "2026-05-01T00:00Z"],
  ["2026-05-01", "YYYY-MM-DD", undefined, undefined],
  ["2026-05-01", "yyyy", "Nowhere", undefined],
  [1234567.891, "#,##0.00", undefined, "1,234,567.89"],
  [-1234.5, "#,##0.0#", undefined, "-1,234.5"],
  [0.005, "0.00", undefined, "0.01"],
  [7, "000", undefined, "007"],
  [12n ** 30n, "#,##0", undefined, "237,376,313,799,769,806,328,950,291,431,424"],
  [3.999, "$0.00 each", undefined, "$4.00 each"],
  [1, "0.0.0", undefined, undefined],
  [true, "0", undefined, undefined],
])("%s as %s in %s", (value, pattern, zone, wanted) => {
  expect(call("format", value, pattern, ...(zone === undefined ? [] : [zone]))).toBe(wanted);
});

test("what the function takes is bounded", () => {
  const times = Array.from({ length: 100_000 }, () => "2026-03-28T12:00");
  const body = {
    op: "call",
    fn: "addTime",
    args: [
      { op: "path", root: "local", name: "x", path: [] },
      { op: "literal", value: "P1D" },
      { op: "literal", value: BERLIN },
    ],
  } as const;
  const list = { op: "literal", value: times } as const;
  expect(() => evaluate({ op: "map", list, as: "x", body }, { path: () => undefined })).toThrow("evaluate");
});
