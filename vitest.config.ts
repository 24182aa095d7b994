import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    exclude: ["test/long/**", "test/conformance/**", "test/fixtures/**"],
    pool: "forks",
    // Generous: a condition that never comes is a failure after this time, one that comes costs nothing.
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait for shells, servers and browsers, so more run at once than there are processors.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
