import { expect, test } from "vitest";
import { ParsedJsonCache } from "./parsed-json-cache.ts";

const bodyOf = (chars: number, mark = "x") => JSON.stringify({ mark: mark.repeat(chars) });

test("a long text is parsed once", () => {
  const texts = new ParsedJsonCache();
  const body = bodyOf(5_000);
  expect(texts.parse(body)).toBe(texts.parse(`${body}`));
  expect(texts.parse(body)).toEqual(JSON.parse(body));
});

test("a text that is no JSON stays none", () => {
  const texts = new ParsedJsonCache();
  for (let n = 0; n < 2; n += 1) expect(texts.parse(`{${"x".repeat(5_000)}`)).toBeUndefined();
});

test("what was used longest ago is forgotten, and a text of any length is kept while it is the last", () => {
  const texts = new ParsedJsonCache();
  const [first, second] = [bodyOf(5_000, "a"), bodyOf(5_000, "b")];
  const before = [texts.parse(first), texts.parse(second)];
  expect(texts.parse(first)).toBe(before[0]);
  const large = bodyOf(9_000_000);
  const parsed = texts.parse(large);
  expect(texts.parse(large)).toBe(parsed);
  expect(texts.parse(first)).not.toBe(before[0]);
  expect(texts.parse(first)).toEqual(before[0]);
});
