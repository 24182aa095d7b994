import { availableParallelism, loadavg } from "node:os";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./test/support/skipped-reporter.ts";

/**
 * No module has state of its own, so these files may share a process: what they import is read and evaluated once for
 * all. The others start, kill and count processes, and have one each.
 */
const SHARE_PROCESSES = ["src/**/*.test.ts", "test/{contracts,docs,simulation}/**/*.test.ts"];

/** A machine that is busy with other things when the tests begin is given as many times longer. */
const PATIENCE = Math.max(1, Math.round((loadavg()[0] ?? 0) / availableParallelism()));

/** `npm test`: everything that takes seconds. `vitest.all.config.ts` adds what takes minutes. */
export default defineConfig({
  test: {
    pool: "forks",
    reporters: ["default", new SkippedReporter()],
    // Many tests wait for shells, servers and browsers, so more run at once than there are processors.
    maxWorkers: Math.max(3, availableParallelism()),
    // A test that needs longer says so, and why, beside its own time-out.
    testTimeout: 15_000 * PATIENCE,
    hookTimeout: 15_000 * PATIENCE,
    // A condition that never comes is a failure of its own, shown with what it last saw, before the test's time is over.
    expect: { poll: { timeout: 12_000 * PATIENCE } },
    projects: [
      { extends: true, test: { name: "units", include: SHARE_PROCESSES, isolate: false } },
      {
        extends: true,
        test: {
          name: "systems",
          include: ["test/**/*.test.ts"],
          exclude: [...SHARE_PROCESSES, "test/{long,conformance,readme,fixtures}/**"],
        },
      },
    ],
  },
});
