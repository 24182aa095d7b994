const MINUTE_MS = 60_000;

/** Counts calls of the last minute. */
export class CallRate {
  readonly #limit: number;
  readonly #now: () => number;
  #times: number[] = [];

  /** `now` in milliseconds that never go back. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Counts a call where there is room for it; else says in how many milliseconds there will be. */
  tryCall(): { readonly waitMs: number } | undefined {
    const now = this.#now();
    this.#times = this.#times.filter((time) => time > now - MINUTE_MS);
    const [oldest = now] = this.#times;
    if (this.#times.length >= this.#limit) return { waitMs: oldest + MINUTE_MS - now };
    this.#times.push(now);
    return undefined;
  }
}
