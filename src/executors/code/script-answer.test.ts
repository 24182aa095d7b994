import { describe, expect, test } from "vitest";
import { findException, readProgramOutput } from "./script-answer.ts";

describe("the output of a program", () => {
  test.each([
    ['{"a": 1}\n', { a: 1 }, ""],
    ['{\n  "a": 1\n}\n', { a: 1 }, ""],
    ["null", null, ""],
    ["working\ndone\n[1, 2]\n\n", [1, 2], "working\ndone\n"],
    ['{"first": 1}\n{"second": 2}', { second: 2 }, '{"first": 1}\n'],
    ["", undefined, ""],
    ["no JSON here", undefined, "no JSON here"],
    ["[1, NaN]", undefined, "[1, NaN]"],
    ['{"a": 1}\nlast words', undefined, '{"a": 1}\nlast words'],
  ])("%j gives %j", (stdout, result, log) => {
    expect(readProgramOutput(stdout)).toEqual({ result, log });
  });
});

describe("the exception in error output", () => {
  test.each([
    [
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    x\nKeyError: 'x'\n",
      "KeyError",
      "'x'",
    ],
    [
      'noise\nTraceback (most recent call last):\n  File "a.py", line 1\nshop.errors.Closed\n',
      "shop.errors.Closed",
      "",
    ],
    [
      'Traceback (most recent call last):\n  File "a"\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "b"\nValueError: two: parts\n',
      "ValueError",
      "two: parts",
    ],
    ["file:///a.mjs:1\nx.y\n  ^\n\nTypeError: no y\n    at file:///a.mjs:1:3\n\nNode.js v24\n", "TypeError", "no y"],
  ])("%j is %s: %s", (stderr, type, message) => {
    expect(findException(stderr)).toMatchObject({ type, message });
  });

  test.each(["", "the shop is closed", "Error: without a stack"])("%j has none", (stderr) => {
    expect(findException(stderr)).toBeUndefined();
  });

  test("of a Node error has its code", () => {
    const stderr = "SyntaxError [ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]: no enum\n    at parse\n";

    expect(findException(stderr)).toMatchObject({ type: "SyntaxError", code: "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" });
  });
});
