import { expect, test } from "vitest";
import { writeExact } from "../core/exact-json.ts";
import { toJsonInTurns } from "./json-in-turns.ts";

const items = Array.from({ length: 1_201 }, (_, n) => ({ n, gone: undefined, text: `"${n}"` }));

test.each([
  ["a short answer", { data: { a: [1, null, undefined], b: undefined }, error: null }],
  ["an answer with long lists", { data: { run_id: "x", steps: items, outputs: { each: items, b: "c" } }, error: null }],
  ["a long list itself", items],
  ["a map of many names", { data: Object.fromEntries(items.map((item) => [item.text, item])), steps: items }],
  ["a long list far inside", { a: { b: { c: { d: { e: { f: items } } } } }, steps: items }],
  ["integers beyond 2^53", { steps: items.map(({ n }) => BigInt(n) + 2n ** 60n) }],
  ["long lists of nothing", { steps: items.map(() => undefined), none: [] }],
])("%s is the JSON that is written at once", async (_what, answer) => {
  expect(await toJsonInTurns(answer)).toBe(writeExact(answer));
});

test("others have their turn while a long answer is written", async () => {
  const answer = { data: { steps: Array.from({ length: 20_000 }, () => items.slice(0, 20)) } };
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  await toJsonInTurns(answer);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(3);
});
