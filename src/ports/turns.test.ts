import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { passTurn } from "./turns.ts";

function work(): void {
  const until = performance.now() + 1;
  while (performance.now() < until);
}

async function workLong(): Promise<void> {
  for (let part = 0; part < 20; part += 1) {
    work();
    await passTurn();
  }
}

test("many that do long work share the rounds of the event loop", async () => {
  let isOver = false;
  let rounds = 0;
  const counting = (async () => {
    for (; !isOver; rounds += 1) await setImmediate();
  })();
  await Promise.all(Array.from({ length: 30 }, workLong));
  isOver = true;
  await counting;
  // 600 ms of work, of which no round has more than 8. Where each of them had so much there would be three rounds.
  expect(rounds).toBeGreaterThan(40);
});

test("short work waits for nobody", async () => {
  await setImmediate();
  let hasGoneRound = false;
  const round = setImmediate().then(() => (hasGoneRound = true));
  await passTurn();
  await passTurn();
  expect(hasGoneRound).toBe(false);
  await round;
});
