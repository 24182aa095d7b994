import { expect, test } from "vitest";
import { isJsonDeeperThan } from "./json-depth.ts";

const texts: readonly (readonly [string, boolean])[] = [
  ["[[]]", false],
  ["[[[]]]", true],
  ['{"a":{"b":{}}}', true],
  ['{"a":"[[[["}', false],
  ['{"a":"\\"[[[[","b":[]}', false],
  ['"\\\\"', false],
  ["[],[],[],[]", false],
];
test.each(texts)("%s", (text, expected) => {
  expect(isJsonDeeperThan(text, 2)).toBe(expected);
});
