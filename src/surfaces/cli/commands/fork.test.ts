import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/contracts/temporary-folder.ts";
import { readChanges } from "./fork.ts";

test("what is set belongs to a step, to the input, to the limits or to the run, and goes before what a file says", async () => {
  const changes = join(temporaryFolder(), "changes.json");
  writeFileSync(changes, JSON.stringify({ steps: { score: { model: "opus", max_turns: 3 } }, timeout: 5 }));
  const set = [
    "score.model=7",
    "batch/fetch.timeout=9",
    "input.limit=5",
    "input.note=a=b",
    "limits.max_steps=40",
    "max_cost_usd=2",
  ];
  expect(await readChanges({ set, changes })).toEqual({
    steps: { score: { model: "7", max_turns: 3 }, "batch/fetch": { timeout: 9 } },
    input: { limit: 5, note: "a=b" },
    limits: { max_steps: 40 },
    max_cost_usd: 2,
    timeout: 5,
  });
});

test.each(["nothing", "=5"])("%j sets nothing, and what could be written is said", async (written) => {
  await expect(readChanges({ set: [written] })).rejects.toMatchObject({ code: "USAGE" });
});
