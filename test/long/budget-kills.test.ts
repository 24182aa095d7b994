import { test } from "vitest";
import { killBudgets } from "../faults/service/kill-budgets.ts";

/** With another seed each time; the one that failed is in its message. */
const FIRST = Number(process.env["PAWL_SEED"] ?? Date.now() % 1_000_000);

test.each(Array.from({ length: 5 }, (_, n) => FIRST + n))(
  "budgets hold on a server that is killed again and again under load (seed %i)",
  async (seed) => {
    await killBudgets({ seed, kills: 10, runs: 40 });
  },
);
