import fc from "fast-check";
import { expect, test } from "vitest";
import { fromIsoTime, toIsoTime } from "./iso-time.ts";

test("a time reads as the platform writes it", () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date("0000-01-01T00:00:00Z"),
        max: new Date("9999-12-31T23:59:59.999Z"),
        noInvalidDate: true,
      }),
      (date) => {
        expect(toIsoTime(date.getTime())).toBe(date.toISOString());
      },
    ),
  );
});

test("what is written is read again, also with a zone of its own", () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date("0001-01-01"), max: new Date("9998-12-31"), noInvalidDate: true }),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      (date, offset) => {
        const at = date.getTime();
        expect(fromIsoTime(toIsoTime(at))).toBe(at);
        const clock = String(Math.trunc(Math.abs(offset) / 60)).padStart(2, "0");
        const minutes = String(Math.abs(offset) % 60).padStart(2, "0");
        const zone = `${offset < 0 ? "-" : "+"}${clock}:${minutes}`;
        expect(fromIsoTime(toIsoTime(at + offset * 60_000).replace("Z", zone))).toBe(at);
      },
    ),
  );
});

test.each([
  ["2026-05-01", "2026-05-01T00:00:00.000Z"],
  ["2026-05-01T10:20", "2026-05-01T10:20:00.000Z"],
  ["2026-05-01T10:20:30", "2026-05-01T10:20:30.000Z"],
  ["2026-05-01T10:20:30.5Z", "2026-05-01T10:20:30.500Z"],
  ["2026-05-01T10:20:30.123456+00:00", "2026-05-01T10:20:30.123Z"],
  ["2026-05-01T10:20:30+0530", "2026-05-01T04:50:30.000Z"],
  ["2026-03-01t00:00:00-01", "2026-03-01T01:00:00.000Z"],
])("%s is a time", (text, time) => {
  expect(toIsoTime(fromIsoTime(text) ?? 0)).toBe(time);
});

test.each([
  [
    "",
    "yesterday",
    "1700000000",
    "2026-02-30",
    "2026-13-01",
    "2026-00-10",
    "2026-05-01T24:00:00Z",
    "2026-05-01T10:60Z",
  ],
  ["2026-05-01T10:20:60Z", "2026-W18", "2026-05", "+002026-05-01", "2026-05-01 10:20", "2026-05-01T10:20:30+2"],
])("no time is made up", (...texts) => {
  expect(texts.filter((text) => fromIsoTime(text) !== undefined)).toEqual([]);
});
