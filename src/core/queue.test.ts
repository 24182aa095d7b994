import fc from "fast-check";
import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

test("what goes in first comes out first, however much goes through", () => {
  const steps = fc.array(fc.tuple(fc.nat(3_000), fc.nat(3_000)), { maxLength: 6 });
  fc.assert(
    fc.property(steps, (pushesAndShifts) => {
      const queue = new Queue<number>();
      let [pushed, shifted] = [0, 0];
      for (const [pushes, shifts] of pushesAndShifts) {
        for (let n = 0; n < pushes; n += 1) queue.push(pushed++);
        for (let n = 0; n < shifts && shifted < pushed; n += 1)
          if (queue.shift() !== shifted++) throw new Error("out of order");
        expect(queue.size).toBe(pushed - shifted);
        expect(queue.peek()).toBe(shifted < pushed ? shifted : undefined);
      }
    }),
  );
});

test("an empty queue gives nothing", () => {
  const queue = new Queue<number>();
  expect(queue.shift()).toBeUndefined();
  queue.push(1);
  queue.clear();
  expect(queue.peek()).toBeUndefined();
});
