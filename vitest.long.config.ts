import { defineConfig } from "vitest/config";

/** Soak, crash and simulation tests: minutes, not seconds. */
export default defineConfig({
  test: {
    include: ["test/long/**/*.test.ts"],
    passWithNoTests: true,
    pool: "forks",
    testTimeout: 15 * 60_000,
    hookTimeout: 60_000,
  },
});
