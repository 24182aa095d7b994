import { test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { killEveryStep } from "../faults/every-step/kill-every-step.ts";

test("a workflow of every kind of step is killed 60 times at any event, and ends as if nothing had happened", async () => {
  await killEveryStep(
    temporaryFolder(),
    Array.from({ length: 6 }, (_, seed) => 100 + seed),
    10,
  );
});
