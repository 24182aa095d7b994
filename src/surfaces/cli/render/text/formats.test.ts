import { expect, test } from "vitest";
import { formatDuration, formatUsd } from "./formats.ts";
import { createPaint, wantsColor } from "./paint.ts";
import { padEnd, renderSegments, truncate, widthOf } from "./text-width.ts";

test("durations have the two units that matter", () => {
  const shown = [0, 850, 999.6, 1_000, 59_999, 182_000, 7_500_000, 273_600_000].map(formatDuration);
  expect(shown).toEqual(["0 ms", "850 ms", "999 ms", "1.0 s", "59.9 s", "3 min 02 s", "2 h 05 min", "3 d 04 h"]);
});

test("small amounts show something, unknown ones a question mark", () => {
  expect([0, 0.0042, 1.416].map((usd) => formatUsd(usd))).toEqual(["$0.00", "$0.0042", "$1.42"]);
  expect([0, 1.5].map((usd) => formatUsd(usd, { unpriced: true }))).toEqual(["$?", "$1.50+?"]);
});

test("wide characters count as two columns and are never cut in half", () => {
  expect(widthOf("漢字")).toBe(4);
  expect(truncate("漢字漢字", 6)).toBe("漢字…");
  expect(padEnd("漢", 4)).toBe("漢  ");
});

test("a line is cut before it is painted", () => {
  const segments = [{ text: "abc" }, { text: "defgh", style: "red" }, { text: "ijk" }] as const;
  expect(renderSegments(segments, 6, createPaint(false))).toBe("abcde…");
  expect(renderSegments(segments, 6, createPaint(true))).toBe("abc\u001b[31mde…\u001b[39m");
});

test("colour is for terminals that have it and people who want it", () => {
  expect(wantsColor({ isTty: true, env: {} })).toBe(true);
  expect(wantsColor({ isTty: false, env: {} })).toBe(false);
  expect(wantsColor({ isTty: true, env: { NO_COLOR: "1" } })).toBe(false);
  expect(wantsColor({ isTty: true, env: { TERM: "dumb" } })).toBe(false);
  expect(wantsColor({ isTty: false, env: { FORCE_COLOR: "1" } })).toBe(true);
  expect(wantsColor({ isTty: true, env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).toBe(false);
});
