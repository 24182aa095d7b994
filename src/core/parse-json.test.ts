import { expect, test } from "vitest";
import { readJson } from "./parse-json.ts";

test.each([
  ["prose that names 1e400", false, "is not valid JSON"],
  [`prose that has [${"7".repeat(400)}] in it`, false, "is not valid JSON"],
  ["[".repeat(600) + "]".repeat(600), false, "nests more than 500 levels deep"],
  ['{"x": 1e400}', true, "cannot be kept: The number 1e400 in JSON at position 6 is too large for a double"],
  ["7".repeat(400), true, "cannot be kept: An integer of more than 300 digits in JSON at position 0"],
])("what cannot be read says why: %s", (text, isJson, flaw) => {
  expect(readJson(text)).toEqual({ ok: false, isJson, flaw });
});
