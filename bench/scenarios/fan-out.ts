import { type Comparison, compare, timed } from "../support/compare.ts";
import { fanOut, sequence } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

/** One run, n steps in parallel and a join, against inserting the same rows in one commit. */
export async function benchFanOut(rounds: number): Promise<Comparison[]> {
  const bench = await openWorkbench();
  const [small, large, line] = [fanOut(500), fanOut(10_000), sequence(500)];
  const results = [
    await compare({
      name: "FAN-500",
      floorName: "the same rows in one commit",
      target: 5,
      rounds: rounds * 3,
      floor: () => bench.raw.insert(503, 503),
      ours: () => timed(() => bench.run(small)),
    }),
    await compare({
      name: "FAN-500 against SEQ-500",
      floorName: "SEQ-500",
      target: 0.05,
      rounds,
      floor: () => timed(() => bench.run(line)),
      ours: () => timed(() => bench.run(small)),
    }),
    await compare({
      name: "FAN-10,000",
      floorName: "the same rows in one commit",
      target: 4,
      rounds,
      floor: () => bench.raw.insert(10_003, 10_003),
      ours: () => timed(() => bench.run(large)),
    }),
  ];
  await bench.close();
  return [...results, await benchHeap()];
}

/** Outputs of 20 KB: 200 MB pass through, a bounded part of it is ever in memory. */
async function benchHeap(): Promise<Comparison> {
  const bench = await openWorkbench({ outputBytes: 20_000 });
  const before = process.memoryUsage();
  let peak = 0;
  const watch = setInterval(() => {
    const { heapUsed, external } = process.memoryUsage();
    peak = Math.max(peak, heapUsed + external);
  }, 5);
  const oursMs = await timed(() => bench.run(fanOut(10_000, 500)));
  clearInterval(watch);
  const floorMs = bench.raw.insert(10_000, 10_000, 20_000);
  await bench.close();
  const grownMb = (peak - before.heapUsed - before.external) / 1024 / 1024;
  return {
    name: "FAN-10,000 with outputs of 20 KB",
    floorName: "the same rows in one commit",
    floorMs,
    oursMs,
    ratio: oursMs / floorMs,
    note: `heap grew by at most ${grownMb.toFixed(0)} MB while 200 MB were written`,
  };
}
