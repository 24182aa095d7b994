import { expect, test } from "vitest";
import { createPaint } from "../render/text/paint.ts";
import { renderOutputs } from "./run-printer.ts";

const plain = { paint: createPaint(false) };

test("a list of flat objects is a table, with numbers to the right and lists in one cell", () => {
  const outputs = [
    { company: "Alder", score: 78, signals: ["series A", "hiring"] },
    { company: "Birchwater", score: 5, signals: [] },
  ];
  expect(renderOutputs(outputs, plain)?.split("\n")).toEqual([
    "company     score  signals",
    "Alder          78  series A, hiring",
    "Birchwater      5",
  ]);
});

test("of the outputs of several steps the last list of flat objects is shown", () => {
  const outputs = { find: [{ a: 1 }], score: [{ b: 2 }], report: { text: "done" } };
  expect(renderOutputs(outputs, plain)).toBe("b\n2");
});

test("a failed item, a nested value, or a value that is no list leaves no table", () => {
  for (const outputs of [[{ a: 1 }, null], [{ a: { b: 1 } }], [], { text: "hello" }, "hello", null])
    expect(renderOutputs(outputs, plain)).toBeUndefined();
});

test("what came from outside cannot act on a terminal", () => {
  expect(renderOutputs([{ "a\u001b[31m": "x\u001b[2J\ny" }], plain)).toBe("a\nx y");
});

test("a long list is cut, and says so", () => {
  const rows = Array.from({ length: 60 }, (_, n) => ({ n }));
  expect(renderOutputs(rows, plain)).toMatch(/\n49\n... and 10 more rows$/);
});
