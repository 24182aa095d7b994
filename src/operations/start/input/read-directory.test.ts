import { expect, test } from "vitest";
import { matchesGlob } from "./read-directory.ts";

test.each([
  ["a.txt", "*.txt", true],
  ["A.TXT", "*.txt", true],
  ["a.txt.bak", "*.txt", false],
  ["a.txt", "?.txt", true],
  ["ab.txt", "?.txt", false],
  ["a.txt", "a.txt", true],
  ["axtxt", "a.txt", false],
  ["report-2026-01.md", "report-*-??.md", true],
  ["", "*", true],
  ["", "?", false],
  ["x", "", false],
  ["a[b](c)+.md", "a[b](c)+.md", true],
  ["\u{1f600}.md", "?.md", true],
  ["abcabd", "*ab?", true],
  ["abcabd", "**a**d**", true],
])("%j against %j: %s", (name, pattern, fits) => {
  expect(matchesGlob(name, pattern)).toBe(fits);
});

test("a pattern that nearly fits in very many ways is decided at once", () => {
  expect(matchesGlob("a".repeat(200), `${"*a".repeat(60)}b`)).toBe(false);
});
