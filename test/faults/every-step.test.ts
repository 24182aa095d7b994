import { test } from "vitest";
import { temporaryFolder } from "../contracts/temporary-folder.ts";
import { killEveryStep } from "./every-step/kill-every-step.ts";

test("a workflow of every kind of step that is killed again and again ends as if nothing had happened", async () => {
  await killEveryStep(temporaryFolder(), [1], 4);
  // The workflow waits for real time, and its process is started again after each of the four deaths.
});
