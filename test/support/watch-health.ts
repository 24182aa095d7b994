import { availableParallelism, loadavg } from "node:os";
import { setTimeout } from "node:timers/promises";

const PERIOD_MS = 10;
const IDLE_PINGS = 50;
const LIMIT_MS = 50;

/** Other work of this machine is in the way of every figure that is taken in passing. */
export function slack(): number {
  return 3 * Math.max(1, Math.round((loadavg()[0] ?? 0) / availableParallelism()));
}

export interface HealthWatch {
  /** What each answer has taken, since the last call, in milliseconds. */
  take(): { readonly p99: number; readonly max: number; readonly count: number };
  /** Resolves when the last answer has come. To be called before the server ends; throws if one did not come. */
  end(): Promise<void>;
  /** How long the slowest of a hundred answers may take: as long as on a quiet machine, or as on this one without work. */
  limitMs(): number;
  readonly idleMs: number;
}

/** Asks all the time whether a server lives, after it was asked for a while when there was nothing else. */
export async function watchHealth(ping: () => Promise<unknown>): Promise<HealthWatch> {
  let times: number[] = [];
  let isOver = false;
  const askOnce = async () => {
    const began = performance.now();
    await ping();
    times.push(performance.now() - began);
    await setTimeout(PERIOD_MS);
  };
  const take = () => {
    const taken = times.sort((a, b) => a - b);
    times = [];
    const at = (place: number) => Math.round(taken[Math.floor((taken.length - 1) * place)] ?? 0);
    return { p99: at(0.99), max: at(1), count: taken.length };
  };
  for (let n = 0; n < IDLE_PINGS; n += 1) await askOnce();
  const idleMs = take().p99;
  const watched = (async () => {
    while (!isOver) await askOnce();
  })();
  // A test that fails elsewhere ends its server while somebody still asks.
  watched.catch(() => undefined);
  return {
    take,
    async end() {
      isOver = true;
      await watched;
    },
    limitMs: () => Math.max(LIMIT_MS * slack(), 5 * idleMs),
    idleMs,
  };
}
