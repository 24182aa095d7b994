import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Clock } from "../../ports/clock.ts";

/** Callers beyond this many are forgotten, the quietest first: what is kept stays small whoever calls. */
const MAX_CALLERS = 10_000;

interface Bucket {
  /** Requests that may come at once. */
  tokens: number;
  at: number;
}

/** A minute's requests may come at once; after that they are let in as the minute goes by. In memory, for this process alone. */
export class RateLimiter {
  readonly perMinute: number;
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Pick<Clock, "now">) {
    this.perMinute = perMinute;
    this.#clock = clock;
  }

  /** Throws `RATE_LIMITED`, with the seconds until the next request is let in. */
  take(caller: string): void {
    const now = this.#clock.now();
    const { tokens, at } = this.#buckets.get(caller) ?? { tokens: this.perMinute, at: now };
    const filled = Math.min(this.perMinute, tokens + (Math.max(0, now - at) * this.perMinute) / 60_000);
    const isLetIn = filled >= 1;
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { tokens: isLetIn ? filled - 1 : filled, at: now });
    const [quietest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_CALLERS && quietest !== undefined) this.#buckets.delete(quietest);
    if (!isLetIn) this.refuse(((1 - filled) * 60_000) / this.perMinute);
  }

  refuse(waitMs: number): never {
    throw new PawlError("RATE_LIMITED", {
      message: `More than ${this.perMinute} requests in a minute.`,
      details: { retry_after_s: Math.ceil(waitMs / 1_000) },
    });
  }
}
