import { test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { killAtRandom } from "../faults/random-kills.ts";

test("runs whose process is killed at any moment end as if nothing had happened, 200 times", async () => {
  await killAtRandom(
    temporaryFolder(),
    Array.from({ length: 200 }, (_, seed) => 1_000 + seed),
  );
});
