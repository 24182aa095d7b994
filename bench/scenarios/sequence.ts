import { type Comparison, compare, timed } from "../support/compare.ts";
import { sequence } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

const STEPS = 1_000;

/** One run, 1,000 steps in sequence, against 1,000 single-row durable commits. */
export async function benchSequence(rounds: number): Promise<Comparison[]> {
  const graph = sequence(STEPS);
  const results: Comparison[] = [];
  for (const inThread of [false, true]) {
    const bench = await openWorkbench({ inThread });
    const result = await compare({
      name: inThread ? "SEQ-1,000, written in a thread" : "SEQ-1,000",
      floorName: "1,000 single-row commits",
      target: inThread ? 1.6 : 1.3,
      rounds,
      floor: () => bench.raw.insert(STEPS, 1),
      ours: () => timed(() => bench.run(graph)),
    });
    results.push(result);
    await bench.close();
  }
  return results;
}
