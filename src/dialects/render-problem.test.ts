import { describe, expect, test } from "vitest";
import type { Problem } from "../core/errors/problem.ts";
import { renderProblem } from "./render-problem.ts";

function problemAt(place: NonNullable<Problem["place"]>): Problem {
  return { code: "WRONG_TYPE", severity: "error", message: "It is wrong.", remedy: "Correct it.", place };
}

describe("a problem is rendered", () => {
  test("with its place, the lines around it and the remedy", () => {
    const problem = problemAt({ file: "a.yaml", line: 10, column: 3, endLine: 10, endColumn: 6 });
    expect(renderProblem(problem, `${"\n".repeat(8)}name: x\n  foo: bar\n`)).toBe(
      [
        "a.yaml:10:3 error WRONG_TYPE It is wrong.",
        "   9 | name: x",
        "  10 |   foo: bar",
        "     |   ^^^",
        "  remedy: Correct it.",
      ].join("\n"),
    );
  });

  test("with carets to the end of the line where it spans several", () => {
    const problem = problemAt({ line: 1, column: 4, endLine: 3, endColumn: 2 });
    expect(renderProblem(problem, "ab: [1,\r\n2,\r\n3]").split("\n")[2]).toBe("    |    ^^^^");
  });

  test("with one caret where there is nothing to underline", () => {
    const problem = problemAt({ line: 2, column: 1, endLine: 2, endColumn: 1 });
    expect(renderProblem(problem, "ab: 1\n").split("\n")[3]).toBe("    | ^");
  });

  test("with a long line cut around the place", () => {
    const text = `${"x".repeat(500_000)}HERE${"x".repeat(500_000)}`;
    const problem = problemAt({ line: 1, column: 500_001, endLine: 1, endColumn: 500_005 });
    const [, line = "", carets = ""] = renderProblem(problem, text).split("\n");
    expect(line.length).toBeLessThan(150);
    expect(line.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1)).toBe("HERE");
  });

  test("without control characters, so that a definition cannot drive the terminal", () => {
    const problem = { ...problemAt({ line: 1, column: 1 }), message: "\u001b[2J" };
    const rendered = renderProblem(problem, "a\tb\u001b[31m\u009bc\u202e");
    expect(rendered.replaceAll("\n", "")).not.toMatch(/\p{Control}|\u202e/u);
  });

  test("without a frame where the place is unknown", () => {
    const { place: _, ...problem } = problemAt({ line: 1, column: 1 });
    expect(renderProblem(problem, "")).toBe("error WRONG_TYPE It is wrong.\n  remedy: Correct it.");
  });
});
