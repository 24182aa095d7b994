import { expect, test } from "vitest";
import { inTurn, passTurn } from "./turns.ts";

/** Work that nothing interrupts. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("what a tenant has too much of waits for itself, and another's work goes on after one part of it", async () => {
  const done: string[] = [];
  const does = async (tenant: string) => {
    await inTurn(() => work(5), tenant);
    done.push(tenant);
  };
  await Promise.all([...Array.from({ length: 20 }, () => does("many")), does("one")]);
  expect(done).toHaveLength(21);
  expect(done.indexOf("one")).toBeLessThanOrEqual(2);
});

test("between two parts of long work the sockets are looked at, and timers fire", async () => {
  let fired = 0;
  const timer = setInterval(() => {
    fired += 1;
  }, 1);
  for (let part = 0; part < 10; part += 1) {
    work(5);
    await passTurn("a");
  }
  clearInterval(timer);
  expect(fired).toBeGreaterThanOrEqual(4);
});
