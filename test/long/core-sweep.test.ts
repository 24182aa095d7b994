import fc from "fast-check";
import { describe, test } from "vitest";
import { PROPERTIES } from "../simulation/properties.ts";

const RUNS = Number(process.env["PAWL_SWEEP_RUNS"] ?? 5_000);

describe(`the core over ${RUNS} drawn runs each`, () => {
  for (const { name, check } of PROPERTIES) {
    test(name, () => {
      const size = fc.integer({ min: 1, max: 30 });
      const seed = fc.noShrink(fc.integer({ min: 1, max: 2 ** 31 }));
      fc.assert(fc.property(fc.record({ size, seed }), check), { numRuns: RUNS });
    });
  }
});
