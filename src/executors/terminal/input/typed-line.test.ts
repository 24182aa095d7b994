import { expect, test } from "vitest";
import { NOTHING_TYPED, readTypedLines } from "./typed-line.ts";

test.each([
  ["ls\n", ["ls"], ""],
  ["a\rb\nc", ["a", "b"], "c"],
  ["abc\u007f\bx\n", ["ax"], ""],
  ["😀\u007fx\n", ["x"], ""],
  ["one two\u0017three\n", ["one three"], ""],
  ["gone\u0015kept\n", ["kept"], ""],
  ["gone\u0003kept\n", ["kept"], ""],
  ["one \\\ntwo\n", ["one \\", "one two"], ""],
  ["two \\\\\nx\n", ["two \\\\", "x"], ""],
])("%j types the lines %j and then %j", (input, submitted, current) => {
  const lines = readTypedLines(NOTHING_TYPED, input);

  expect([lines.submitted.map(({ text }) => text), lines.current.text]).toEqual([submitted, current]);
});

test.each(["\u001b[Ax", "\u001bOAx", "\u001bfx", "\tx", "\u0001x", "\u0000x"])(
  "%j makes the line uncertain",
  (input) => {
    expect(readTypedLines(NOTHING_TYPED, input).current).toEqual({ text: "x", isCertain: false });
  },
);

test("a line goes on where it was", () => {
  const { current } = readTypedLines(NOTHING_TYPED, "ec");

  expect(readTypedLines(current, "ho\n").submitted).toEqual([{ text: "echo", isCertain: true }]);
});
