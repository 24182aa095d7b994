import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as jinja from "./jinja.ts";

const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** Each line with a comment at its end is a value, and the comment is what it must be. */
test("the examples of the README give what they say", () => {
  const seen: unknown[] = [];
  const expected: unknown[] = [];
  for (const [, code = ""] of README.matchAll(/```js\n(.*?)```/gs)) {
    const lines = code.split("\n").map((line) => {
      const [, value, comment] = /^ *(\S.*); \/\/ (.*)$/.exec(line) ?? [];
      if (value === undefined || comment === undefined)
        return line.replace(/^import (.*) from .*;$/, "const $1 = jinja;");
      expected.push(JSON.parse(comment));
      return `seen.push(${value});`;
    });
    new Function("jinja", "seen", lines.join("\n"))(jinja, seen);
  }
  expect(seen).toEqual(expected);
  expect(seen).toHaveLength(3);
});
