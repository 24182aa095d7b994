import { test } from "vitest";
import { killService } from "./kill-service.ts";

test("a server that is killed under load and started again has lost and doubled nothing", async () => {
  await killService({ seed: 1, kills: 2, runs: 60, readers: 10, slots: 5 });
  // A server is killed under load and started again, twice.
});
