import { defineConfig } from "vitest/config";

/** Foreign clients and the official runner: `test/conformance` has an install of its own. */
export default defineConfig({
  test: {
    include: ["test/conformance/*.test.ts"],
    pool: "forks",
    // Generous: a condition that never comes is a failure after this time, one that comes costs nothing.
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 4 * 60_000,
    hookTimeout: 60_000,
  },
});
