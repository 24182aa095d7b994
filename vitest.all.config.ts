import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/**
 * `npm run test:all`: what `npm test` and `npm run test:system` run, with 80 times as many cases of each property, and
 * three more projects. `long` are kills, loads and soaks over many seeds; `conformance` are foreign clients and servers, which have an
 * install of their own; `readme` pastes the README's blocks into shells, each of their commands by way of npx.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    env: { PAWL_TEST_ROUNDS: "80" },
    testTimeout: 15 * 60_000,
    projects: [
      ...(base.test?.projects ?? []),
      { extends: true, test: { name: "long", include: ["test/long/**/*.test.ts"] } },
      { extends: true, test: { name: "conformance", include: ["test/conformance/*.test.ts"] } },
      { extends: true, test: { name: "readme", include: ["test/readme/*.test.ts"] } },
    ],
  },
});
