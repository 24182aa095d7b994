import { test } from "vitest";
import { killBudgets } from "./kill-budgets.ts";

test("budgets hold on a server that is killed again and again, and who waits for a raise goes on with it", async () => {
  await killBudgets({ seed: 1, kills: 3, runs: 6 });
  // A server is killed under load and started again, three times.
});
