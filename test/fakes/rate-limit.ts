/** How a provider limits requests by rate. */
export interface RateLimitOptions {
  /** So many requests in each window. */
  readonly count: number;
  readonly windowMs: number;
  /** `fixed`: windows follow one another; `sliding`: any time of that length; `bucket`: refilled all the time, and at most `count` in it. */
  readonly kind: "fixed" | "sliding" | "bucket";
}

/** A limit on requests by rate, whatever is in flight. */
export class RateLimit {
  readonly #options: RateLimitOptions;
  #takenAt: number[] = [];
  #filled: number;
  #filledAt: number | undefined;

  constructor(options: RateLimitOptions) {
    this.#options = options;
    this.#filled = options.count;
  }

  take(now: number): boolean {
    if (this.remaining(now) < 1) return false;
    this.#takenAt.push(now);
    this.#filled -= 1;
    return true;
  }

  remaining(now: number): number {
    const { count, windowMs, kind } = this.#options;
    if (kind === "bucket") {
      this.#filled = Math.min(count, this.#filled + ((now - (this.#filledAt ?? now)) * count) / windowMs);
      this.#filledAt = now;
      return Math.floor(this.#filled);
    }
    const from = kind === "fixed" ? Math.floor(now / windowMs) * windowMs : now - windowMs + 1;
    this.#takenAt = this.#takenAt.filter((at) => at >= from);
    return count - this.#takenAt.length;
  }

  /** How long until all of it is there again. */
  windowEndMs(now: number): number {
    const { count, windowMs, kind } = this.#options;
    if (kind === "bucket") return Math.ceil(((count - this.#filled) * windowMs) / count);
    return kind === "fixed" ? windowMs - (now % windowMs) : (this.#takenAt.at(-1) ?? now - windowMs) + windowMs - now;
  }
}
