/** Medians of interleaved rounds: the machine's mood changes both sides alike. */
export interface Comparison {
  readonly name: string;
  readonly floorName: string;
  readonly floorMs: number;
  readonly oursMs: number;
  readonly ratio: number;
  /** The ratio asked for; absent where there is none. */
  readonly target?: number;
  readonly note?: string;
}

export async function compare(options: {
  readonly name: string;
  readonly floorName: string;
  readonly target?: number;
  readonly rounds: number;
  readonly floor: () => number | Promise<number>;
  readonly ours: () => number | Promise<number>;
}): Promise<Comparison> {
  const { name, floorName, rounds, floor, ours, target } = options;
  const pairs: { floorMs: number; oursMs: number }[] = [];
  // The first round warms both sides up.
  for (let round = 0; round <= rounds; round += 1) {
    const pair = { floorMs: await floor(), oursMs: await ours() };
    if (round > 0) pairs.push(pair);
  }
  return {
    name,
    floorName,
    floorMs: median(pairs.map(({ floorMs }) => floorMs)),
    oursMs: median(pairs.map(({ oursMs }) => oursMs)),
    ratio: median(pairs.map(({ floorMs, oursMs }) => oursMs / floorMs)),
    ...(target === undefined ? {} : { target }),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
