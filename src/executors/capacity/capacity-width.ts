/** One call on its way, as the width counts it. */
export interface SentCall {
  readonly round: number;
  /** How many calls were in flight with this one. */
  readonly position: number;
  /** The server was not known to hold so many. */
  readonly isBeyond: boolean;
  readonly isProbe: boolean;
  isAccepted: boolean;
}

export interface Refusal {
  /** Other calls that are in flight now. */
  readonly inFlight: number;
  readonly now: number;
  readonly retryAfterMs: number | undefined;
}

const START = 8;
const PROBE_AFTER_MS = 5_000;
const MAX_PROBE_AFTER_MS = 300_000;
/** A probe that is refused closes the pool for the server's `Retry-After`: this keeps that to a tenth of the time. */
const PROBE_AFTER_RETRIES = 10;
const MAX_DOUBLINGS = 4;
const LATE_FREE_MS = 20;
const MAX_LATE_FREE_MS = 320;

/**
 * Finds out how many calls a server takes at once. The width grows by one for each call that is taken in, until one is
 * refused. A refusal beyond what the server has held before tells its limit: the width settles there, and probes with a
 * single call, ever more rarely. A refusal below that, an overload or a time-out tells that the server can do less now:
 * the width is halved, once for all calls that were on their way.
 */
export class CapacityWidth {
  readonly #max: number;
  #width: number;
  /** Up to here it grows without a probe. */
  #target = Number.POSITIVE_INFINITY;
  /** The most calls that the server has held at once since it last could do less. */
  #held = 0;
  #round = 0;
  #foundLimit = false;
  #isProbing = false;
  #settledAt = 0;
  #acceptedSince = 0;
  #failedProbes = 0;
  #retryAfterMs = 0;
  /** Some servers free a place a moment after their answer has ended. */
  lateFreeMs = 0;

  constructor(max: number) {
    this.#max = max;
    this.#width = Math.min(START, max);
  }

  get width(): number {
    return this.#width;
  }

  /** Whether one more call may be sent. */
  allows(inFlight: number, now: number): boolean {
    return inFlight < this.#width || this.#mayProbe(inFlight, now);
  }

  /** When a probe is due, if nothing else happens. */
  get probeAt(): number | undefined {
    const isReady = this.#isSettled && !this.#isProbing && this.#acceptedSince >= this.#acceptedNeeded;
    return isReady ? this.#settledAt + this.#probeAfterMs : undefined;
  }

  sent(inFlight: number): SentCall {
    const position = inFlight + 1;
    const isProbe = position > this.#width;
    this.#isProbing ||= isProbe;
    const isBeyond = position > this.#held;
    return { round: this.#round, position, isBeyond, isProbe, isAccepted: false };
  }

  /** The server works on the call. */
  accepted(call: SentCall): void {
    if (call.isAccepted) return;
    call.isAccepted = true;
    if (call.isProbe) this.#isProbing = false;
    if (call.round !== this.#round) return;
    this.#acceptedSince += 1;
    this.#held = Math.max(this.#held, call.position);
    if (call.isProbe) {
      this.#target = Number.POSITIVE_INFINITY;
      this.#failedProbes = 0;
    }
    if (this.#width < Math.min(this.#target, this.#max, 2 * this.#held)) this.#width += 1;
  }

  refused(call: SentCall, refusal: Refusal): void {
    if (call.isProbe) this.#isProbing = false;
    const rest = Math.max(1, refusal.inFlight);
    if (call.round !== this.#round) {
      // It was sent before the refusal that has been heard: it only tells the same limit more exactly.
      if (this.#foundLimit) this.#settle(Math.min(this.#width, rest), refusal);
      return;
    }
    this.#round += 1;
    this.#retryAfterMs = refusal.retryAfterMs ?? 0;
    if (call.isBeyond) return this.#findLimit(call, rest, refusal);
    const isLateFree = refusal.inFlight + 1 >= this.#held && refusal.retryAfterMs === undefined;
    if (isLateFree && this.lateFreeMs < MAX_LATE_FREE_MS) {
      this.#foundLimit = false;
      this.lateFreeMs = Math.max(LATE_FREE_MS, this.lateFreeMs * 4);
      return;
    }
    this.#halve(refusal.now);
  }

  /** The server is overloaded, or has not answered in time. */
  overloaded(call: SentCall, now: number): void {
    if (call.isProbe) this.#isProbing = false;
    if (call.round !== this.#round) return;
    this.#round += 1;
    this.#halve(now);
  }

  /** The call is over, and tells nothing. */
  ended(call: SentCall): void {
    if (call.isProbe) this.#isProbing = false;
  }

  #findLimit(call: SentCall, rest: number, { now }: Refusal): void {
    this.#failedProbes = call.isProbe ? this.#failedProbes + 1 : 0;
    this.#foundLimit = true;
    this.#settle(call.isProbe ? Math.min(this.#width, rest) : Math.min(rest, this.#max), { now });
    this.#acceptedSince = 0;
  }

  #halve(now: number): void {
    this.#foundLimit = false;
    this.#failedProbes = 0;
    this.#settle(Math.max(1, Math.floor(this.#width / 2)), { now });
    this.#acceptedSince = 0;
  }

  #settle(width: number, { now }: Pick<Refusal, "now">): void {
    this.#width = width;
    this.#target = width;
    this.#held = this.#foundLimit ? Math.min(this.#held, width) : width;
    this.#settledAt = now;
  }

  get #isSettled(): boolean {
    return this.#width >= this.#target && this.#width < this.#max;
  }

  get #acceptedNeeded(): number {
    return this.#width * 2 ** Math.min(this.#failedProbes, MAX_DOUBLINGS);
  }

  get #probeAfterMs(): number {
    const delayMs = Math.min(PROBE_AFTER_MS * 2 ** Math.min(this.#failedProbes, 10), MAX_PROBE_AFTER_MS);
    return Math.max(delayMs, this.#retryAfterMs * PROBE_AFTER_RETRIES);
  }

  #mayProbe(inFlight: number, now: number): boolean {
    const at = this.probeAt;
    return at !== undefined && now >= at && inFlight === this.#width;
  }
}
