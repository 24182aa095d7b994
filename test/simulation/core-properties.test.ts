import fc from "fast-check";
import { describe, test } from "vitest";
import { rounds } from "../properties/rounds.ts";
import { type Drawn, PROPERTIES } from "./properties.ts";
import { REGRESSIONS } from "./regressions.ts";

// `test/long/core-sweep.test.ts` draws many more.
const RUNS = rounds(63);

const drawn: fc.Arbitrary<Drawn> = fc.record({
  size: fc.integer({ min: 1, max: 14 }),
  seed: fc.noShrink(fc.integer({ min: 1, max: 2 ** 31 })),
});

for (const { name, check } of PROPERTIES) {
  describe(name, () => {
    test(`on ${RUNS} drawn runs`, () => {
      fc.assert(fc.property(drawn, check), { numRuns: RUNS, seed: 20260 });
    });

    test.each(REGRESSIONS)("on seed $seed, size $size", check);
  });
}
