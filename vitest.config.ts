import { availableParallelism, loadavg } from "node:os";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./test/support/skipped-reporter.ts";

/** Long tests beside the sources: they start and kill very many servers, or write very large files. */
const LONG_UNITS = [
  "src/executors/exports/csv-executor.test.ts",
  "src/executors/mcp-servers/{mcp-servers,hostile-servers}.test.ts",
];

/**
 * No module has state of its own, so these files may share a process: what they import is read and evaluated once for
 * all. The others start, kill and count processes, and have one each.
 */
const SHARE_PROCESSES = [
  "src/**/*.test.ts",
  "web/**/*.test.ts",
  "test/{chaos,contracts,docs,exports,fakes,simulation}/**/*.test.ts",
  "test/agents/served-agents.test.ts",
  "test/end-to-end/cli/{agents,demo,exit-codes,init,signals,step}.test.ts",
  "test/faults/{budget-crashes,policy-crashes,storage-comes-back}.test.ts",
  "test/faults/resume-races/{nested,one-question,siblings,signals}.test.ts",
  "test/terminal/{library-editor,semantics,terminal-executor,terminal-library}.test.ts",
];

/** One of each kind of test that needs real processes: every transport, a shell, a server, `kill -9`. */
const QUICK = [
  "test/end-to-end/cli/{approvals,budgets,parity,terminal}.test.ts",
  "test/end-to-end/mcp-terminal/stdio.test.ts",
  "test/end-to-end/serve/{policies,webhooks}.test.ts",
  "test/faults/{kill-at-every-commit,two-owners}.test.ts",
];

/** End-to-end tests once more, on what else there is: `test/end-to-end/support/profile.ts`. */
const PROFILES = ["postgres", "production", "restate"].map((name) => ({
  extends: true as const,
  test: {
    name,
    include: ["test/end-to-end/**/*.test.ts"],
    env: { PAWL_TEST_PROFILE: name },
    setupFiles: ["test/end-to-end/support/profile-skips.ts"],
    globalSetup: name === "postgres" ? [] : [`test/support/${name}-for-all.ts`],
  },
}));

/** A machine that is busy with other things when the tests begin is given as many times longer. */
const PATIENCE = Math.max(1, Math.round((loadavg()[0] ?? 0) / availableParallelism()));

/**
 * `npm test` runs `units` and `quick`, `npm run test:system` the rest of what a change can break: a new file of `test/` is
 * there until it is named above. `vitest.all.config.ts` adds what takes minutes.
 */
export default defineConfig({
  test: {
    pool: "forks",
    // As `src/main.ts` does first.
    setupFiles: ["test/support/exact-json.ts"],
    globalSetup: ["test/support/postgres-for-all.ts"],
    reporters: ["default", new SkippedReporter()],
    // Many tests wait for shells, servers and browsers, so more run at once than there are processors.
    maxWorkers: Math.max(3, availableParallelism()),
    // A test that needs longer says so, and why, beside its own time-out.
    testTimeout: 15_000 * PATIENCE,
    hookTimeout: 15_000 * PATIENCE,
    // A condition that never comes is a failure of its own, shown with what it last saw, before the test's time is over.
    expect: { poll: { timeout: 12_000 * PATIENCE } },
    projects: [
      { extends: true, test: { name: "units", include: SHARE_PROCESSES, exclude: LONG_UNITS, isolate: false } },
      { extends: true, test: { name: "quick", include: QUICK } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/**/*.test.ts", ...LONG_UNITS],
          exclude: [...SHARE_PROCESSES.slice(2), ...QUICK, "test/{long,conformance,readme,fixtures}/**"],
          // Most of these start several servers or shells one after the other.
          testTimeout: 45_000 * PATIENCE,
        },
      },
      ...PROFILES.map(({ test, ...rest }) => ({ ...rest, test: { ...test, testTimeout: 60_000 * PATIENCE } })),
    ],
  },
});
