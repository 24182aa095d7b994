import { expect, test } from "vitest";
import type { Json } from "./json.ts";
import { isDeeperThan, isJsonDeeperThan } from "./json-depth.ts";

const texts: readonly (readonly [string, boolean])[] = [
  ["[[]]", false],
  ["[[[]]]", true],
  ['{"a":{"b":{}}}', true],
  ['{"a":"[[[["}', false],
  ['{"a":"\\"[[[[","b":[]}', false],
  ['"\\\\"', false],
  ["[[],[],[],[]]", false],
];
test.each(texts)("%s", (text, expected) => {
  expect(isJsonDeeperThan(text, 2)).toBe(expected);
  expect(isDeeperThan(JSON.parse(text) as Json, 2)).toBe(expected);
});
