import { expect, test } from "vitest";
import { parserOnce, readJson } from "./parse-json.ts";

test.each([
  ["prose that names 1e400", false, "is not valid JSON"],
  [`prose that has [${"7".repeat(400)}] in it`, false, "is not valid JSON"],
  ["[".repeat(600) + "]".repeat(600), false, "nests more than 500 levels deep"],
  ['{"x": 1e400}', true, "cannot be kept: The number 1e400 in JSON at position 6 is too large for a double"],
  ["7".repeat(400), true, "cannot be kept: An integer of more than 300 digits in JSON at position 0"],
])("what cannot be read says why: %s", (text, isJson, flaw) => {
  expect(readJson(text)).toEqual({ ok: false, isJson, flaw });
});

const bodyOf = (chars: number, mark = "x") => JSON.stringify({ mark: mark.repeat(chars) });

test("a long text is parsed once", () => {
  const parse = parserOnce();
  const body = bodyOf(5_000);
  expect(parse(body)).toBe(parse(`${body}`));
  expect(parse(body)).toEqual(JSON.parse(body));
});

test("a text that is no JSON stays none", () => {
  const parse = parserOnce();
  for (let n = 0; n < 2; n += 1) expect(parse(`{${"x".repeat(5_000)}`)).toBeUndefined();
});

test("what was used longest ago is forgotten, and a text of any length is kept while it is the last", () => {
  const parse = parserOnce();
  const [first, second] = [bodyOf(5_000, "a"), bodyOf(5_000, "b")];
  const before = [parse(first), parse(second)];
  expect(parse(first)).toBe(before[0]);
  const large = bodyOf(9_000_000);
  const parsed = parse(large);
  expect(parse(large)).toBe(parsed);
  expect(parse(first)).not.toBe(before[0]);
  expect(parse(first)).toEqual(before[0]);
});
