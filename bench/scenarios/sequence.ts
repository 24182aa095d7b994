import { type Comparison, compare, timed } from "../support/compare.ts";
import { sequence } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

const STEPS = 1_000;

/** One run, 1,000 steps in sequence, against 1,000 single-row durable commits. */
export async function benchSequence(rounds: number): Promise<Comparison[]> {
  const graph = sequence(STEPS);
  const results: Comparison[] = [];
  for (const home of ["main thread", "worker"] as const) {
    const bench = await openWorkbench({ worker: home === "worker" });
    results.push(
      await compare({
        name: `SEQ-1,000, ${home}`,
        floorName: "1,000 single-row commits",
        target: home === "worker" ? 1.6 : 1.3,
        rounds,
        floor: () => bench.raw.insert(STEPS, 1),
        ours: () => timed(() => bench.run(graph)),
      }),
    );
    await bench.close();
  }
  return results;
}
