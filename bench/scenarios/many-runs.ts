import { type Comparison, compare, timed } from "../support/compare.ts";
import { sequence } from "../support/no-op-host.ts";
import { openWorkbench } from "../support/workbench.ts";

const RUNS = 1_000;
const IN_FLIGHT = 100;
/** Start, four outcomes, end. */
const ROWS_PER_RUN = 6;

/** 1,000 runs of 4 steps, 100 in flight, against inserting as many event rows in commits of 1,000. */
export async function benchManyRuns(rounds: number): Promise<Comparison[]> {
  return [await benchRuns(rounds, false), await benchRuns(rounds, true)];
}

async function benchRuns(rounds: number, inThread: boolean): Promise<Comparison> {
  const bench = await openWorkbench({ inThread });
  const graph = sequence(4);
  const comparison = await compare({
    name: `1,000 runs x 4 steps, 100 in flight${inThread ? ", written in a thread" : ""}`,
    floorName: "as many event rows in commits of 1,000",
    target: 4,
    rounds,
    floor: () => bench.raw.insert(RUNS * ROWS_PER_RUN, 1_000),
    ours: () =>
      timed(async () => {
        let started = 0;
        const work = async () => {
          while (started < RUNS) {
            started += 1;
            await bench.run(graph);
          }
        };
        await Promise.all(Array.from({ length: IN_FLIGHT }, work));
      }),
  });
  await bench.close();
  const stepsPerSecond = Math.round((RUNS * 4 * 1000) / comparison.oursMs);
  return { ...comparison, note: `${stepsPerSecond.toLocaleString("en")} steps/s` };
}
