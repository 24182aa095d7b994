import { test } from "vitest";
import { killService } from "../faults/service/kill-service.ts";

/** With another seed each time; the one that failed is in its message. */
const FIRST = Number(process.env["PAWL_SEED"] ?? Date.now() % 1_000_000);

test.each(Array.from({ length: 5 }, (_, n) => FIRST + n))(
  "a server that is killed again and again under load has lost and doubled nothing (seed %i)",
  async (seed) => {
    await killService({ seed, kills: 12, runs: 150, slots: 60 });
  },
);
