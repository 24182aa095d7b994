import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { type CallProgress, ProgressTeller } from "./progress-teller.ts";

test("progress is told when it changes and from time to time, and grows every time", async () => {
  let now: CallProgress = { done: 0, total: 10, message: "first" };
  const heard: JsonObject[] = [];
  const eight = Promise.withResolvers<void>();
  const send = (progress: JsonObject) => heard.push(progress) === 8 && eight.resolve();
  const teller = new ProgressTeller(() => now, send, 5);
  onTestFinished(() => teller.stop());
  teller.tell();
  teller.tell();
  now = { done: 1, total: 10, message: "x".repeat(300) };
  teller.tell();
  await eight.promise;
  expect(heard.slice(0, 4)).toEqual([
    { progress: 0, total: 10, message: "first" },
    { progress: 0.5, total: 10, message: "first" },
    { progress: 1, total: 10, message: "x".repeat(200) },
    { progress: 1.5, total: 10, message: "x".repeat(200) },
  ]);
  const numbers = heard.map(({ progress }) => Number(progress));
  expect(numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))).toBe(true);
  expect(Math.max(...numbers)).toBeLessThan(2);
});
