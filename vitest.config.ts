import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * No module has state of its own, so these files may share a process: what they import is read and evaluated once for
 * all. The others start, kill and count processes, and have one each.
 */
const SHARE_PROCESSES = ["src/**/*.test.ts", "test/{contracts,docs,simulation}/**/*.test.ts"];

export default defineConfig({
  test: {
    pool: "forks",
    // Generous: a condition that never comes is a failure after this time, one that comes costs nothing.
    expect: { poll: { timeout: 30_000 } },
    // Many tests wait for shells, servers and browsers, so more run at once than there are processors.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: "units", include: SHARE_PROCESSES, isolate: false } },
      {
        extends: true,
        test: {
          name: "systems",
          include: ["test/**/*.test.ts"],
          exclude: [...SHARE_PROCESSES, "test/long/**", "test/conformance/**", "test/fixtures/**"],
        },
      },
    ],
  },
});
