import { type Comparison, compare, timed } from "../support/compare.ts";
import { sequence } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

const STEPS = 1_000;

/** One run, 1,000 steps in sequence, against 1,000 single-row durable commits. */
export async function benchSequence(rounds: number): Promise<Comparison[]> {
  const graph = sequence(STEPS);
  const bench = await openWorkbench();
  const result = await compare({
    name: "SEQ-1,000",
    floorName: "1,000 single-row commits",
    target: 1.3,
    rounds,
    floor: () => bench.raw.insert(STEPS, 1),
    ours: () => timed(() => bench.run(graph)),
  });
  await bench.close();
  return [result];
}
