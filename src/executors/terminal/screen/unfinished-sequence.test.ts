import { expect, test } from "vitest";
import { unfinishedSequence } from "./terminal-screen.ts";

const CASES: readonly (readonly [text: string, unfinished: string])[] = [
  ["", ""],
  ["plain", ""],
  ["\x1b[31mred", ""],
  ["\x1b[31mred\x1b", "\x1b"],
  ["\x1b[31mred\x1b[", "\x1b["],
  ["\x1b[31mred\x1b[38;5;1", "\x1b[38;5;1"],
  ["a\x1b(", "\x1b("],
  ["a\x1b(B", ""],
  ["a\x1b]0;a title", "\x1b]0;a title"],
  ["a\x1b]0;a title\x07", ""],
  ["a\x1b]0;a title\x1b", "\x1b]0;a title\x1b"],
  ["a\x1b]0;a title\x1b\\", ""],
  ["\x1b]0;a title\x1b\\b\x1b[1", "\x1b[1"],
  [`\x1b]52;c;${"A".repeat(10_000)}`, ""],
];

test.each(CASES)("of %j the end that is still to come begins with %j", (text, unfinished) => {
  expect(unfinishedSequence(text)).toBe(unfinished);
});
