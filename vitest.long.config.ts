import { defineConfig } from "vitest/config";

/** Files that ask `test/properties/rounds.ts` how many cases to try. */
const PROPERTIES = [
  "src/dialects/*/mutations.test.ts",
  "src/dialects/terminal/load.test.ts",
  "src/dialects/uhlp/expressions/{hostile,oracle}.test.ts",
  "src/core/expressions/evaluate.test.ts",
  "test/contracts/journal-differential.test.ts",
  "test/faults/kill-at-every-commit.test.ts",
];

/** Soak, crash and simulation tests, and properties over many more cases: minutes, not seconds. */
export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts", ...PROPERTIES],
    env: { PAWL_TEST_ROUNDS: "20" },
    passWithNoTests: true,
    pool: "forks",
    // Generous: a condition that never comes is a failure after this time, one that comes costs nothing.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 15 * 60_000,
    hookTimeout: 60_000,
  },
});
