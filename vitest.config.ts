import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SkippedReporter } from "./test/support/skipped-reporter.ts";

/** Units that `npm test` leaves to `test:system`: on PostgreSQL, with very many programs, or with texts, lists and files of the largest sizes. */
const LONG_UNITS = [
  "src/dialects/sandcastle/hostile.test.ts",
  "src/executors/exports/csv-executor.test.ts",
  "src/executors/mcp-servers/{mcp-servers,hostile-servers,odd-answers}.test.ts",
  "src/operations/definitions/compile/report-on-sent.test.ts",
  "src/storage/postgres/*.test.ts",
  "src/surfaces/http/service/events/stream-events.test.ts",
];

/**
 * No module has state of its own, so these files may share a process: what they import is read and evaluated once for
 * all. The others start, kill and count processes, and have one each.
 */
const SHARE_PROCESSES = [
  "{src,packages/*/src}/**/*.test.ts",
  "web/**/*.test.ts",
  "test/{chaos,docs,exports,fakes,simulation}/**/*.test.ts",
  "test/contracts/{*,records/*}.test.ts",
  "test/agents/served-agents.test.ts",
  "test/end-to-end/cli/{agents,exit-codes,init,signals,step}.test.ts",
  "test/faults/{budget-crashes,policy-crashes,storage-comes-back}.test.ts",
  "test/faults/resume-races/{nested,one-question,siblings,signals}.test.ts",
  "test/terminal/{library-editor,semantics,terminal-library}.test.ts",
];

/** One of each kind of test that needs real processes: every transport, a shell, a server, `kill -9`. */
const QUICK = [
  "test/end-to-end/cli/{approvals,budgets,parity,terminal}.test.ts",
  "test/end-to-end/serve/{policies,webhooks}.test.ts",
  "test/faults/{kill-at-every-commit,two-owners}.test.ts",
];

const POSTGRES = "test/support/postgres-for-all.ts";

/** End-to-end tests once more, on what else there is: `test/end-to-end/support/profile.ts`. */
const PROFILES = ["postgres", "production", "restate"].map((name) => ({
  extends: true as const,
  test: {
    name,
    include: ["test/end-to-end/**/*.test.ts"],
    env: { PAWL_TEST_PROFILE: name },
    setupFiles: ["test/end-to-end/support/profile-skips.ts"],
    globalSetup: [POSTGRES, ...(name === "postgres" ? [] : [`test/support/${name}-for-all.ts`])],
  },
}));

const REPORT = process.env["PAWL_TEST_REPORT"];
/** `.ci/run` has the results written as JSON. */
const REPORTERS: ["json", { outputFile: string }][] = REPORT === undefined ? [] : [["json", { outputFile: REPORT }]];

/** Far more than any test takes on the busiest machine: a test that is ended hangs. How long something takes is not a test's matter. */
const HANGS_MS = 300_000;

/**
 * `npm test` runs `units` and `quick`, `npm run test:system` the rest of what a change can break: a new file of `test/` is
 * there until it is named above. `vitest.all.config.ts` adds what takes minutes.
 */
export default defineConfig({
  // What is tested is what is written, not what was built last.
  test: {
    pool: "forks",
    reporters: ["default", new SkippedReporter(), ...REPORTERS],
    // Many tests wait for shells, servers and browsers, so more run at once than there are processors.
    maxWorkers: Math.max(3, availableParallelism()),
    testTimeout: HANGS_MS,
    hookTimeout: HANGS_MS,
    // A condition that never comes is a failure of its own, shown with what it last saw, before the test is ended.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: "units", include: SHARE_PROCESSES, exclude: LONG_UNITS, isolate: false } },
      { extends: true, test: { name: "quick", include: QUICK } },
      {
        extends: true,
        test: {
          name: "system",
          globalSetup: [POSTGRES],
          include: ["test/**/*.test.ts", ...LONG_UNITS],
          exclude: [...SHARE_PROCESSES.slice(2), ...QUICK, "test/{long,conformance,readme,fixtures}/**"],
        },
      },
      ...PROFILES,
    ],
  },
});
