import { test } from "vitest";
import { killService } from "../faults/service/kill-service.ts";

/** With another seed each time; the one that failed is in its message. */
const FIRST = Number(process.env["PAWL_SEED"] ?? Date.now() % 1_000_000);

test.each(Array.from({ length: 5 }, (_, n) => FIRST + n))(
  "a server that is killed again and again under load has lost and doubled nothing (seed %i)",
  async (seed) => {
    await killService({ seed, kills: 12, runs: 300, readers: 50, slots: 60 });
  },
);

test("2,000 runs are submitted as fast as they are taken while 100 readers follow, and a server that is killed meanwhile loses nothing", async () => {
  await killService({ seed: FIRST, kills: 12, runs: 2_000, readers: 100, slots: 60 });
});
