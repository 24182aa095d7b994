import { defineConfig } from "vitest/config";

/** Soak, crash and simulation tests: minutes, not seconds. */
export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts"],
    passWithNoTests: true,
    pool: "forks",
    // Generous: a condition that never comes is a failure after this time, one that comes costs nothing.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 15 * 60_000,
    hookTimeout: 60_000,
  },
});
