import { setTimeout } from "node:timers/promises";
import { BoundedMap } from "../../core/bounded-map.ts";

/** A store may not see at once what was written. Together less than two seconds. */
const PAUSES_MS = [50, 150, 400, 1_000];
const FRESH_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Looks again for what must be there. Undefined: it is not there after the last look either. */
export async function lookAgain<T>(
  look: () => Promise<T | undefined>,
  times = PAUSES_MS.length,
): Promise<T | undefined> {
  let found = await look();
  for (const pauseMs of PAUSES_MS.slice(0, times)) {
    if (found !== undefined) break;
    await setTimeout(pauseMs);
    found = await look();
  }
  return found;
}

/** The keys that this process has written a short time ago: each must be there. */
export class FreshKeys {
  readonly #writtenAt = new BoundedMap<string, number>(MAX_REMEMBERED);
  readonly #freshMs: number;

  constructor(freshMs = FRESH_MS) {
    this.#freshMs = freshMs;
  }

  add(key: string): void {
    this.#writtenAt.set(key, performance.now());
  }

  delete(key: string): void {
    this.#writtenAt.delete(key);
  }

  has(key: string): boolean {
    return performance.now() - (this.#writtenAt.get(key) ?? Number.NEGATIVE_INFINITY) < this.#freshMs;
  }
}
