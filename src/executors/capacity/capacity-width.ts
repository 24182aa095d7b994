/** One call on its way, as the width counts it. */
export interface SentCall {
  /** Calls of one round were sent before the server has said that it can do less. */
  readonly round: number;
  /** How many calls were in flight with this one. */
  readonly position: number;
  /** It is one more than the server is known to take. */
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
const MAX_LATE_FREE_MS = 160;

/**
 * Finds out how many calls a server takes at once. The width grows by one for each call that is taken in, until one is
 * refused: what is in flight then is the limit, and the width stays there. From time to time one call more probes whether
 * the limit is still true, ever more rarely, and the width grows again if it is taken. The width is halved, once for all
 * calls that are on their way, by an overload, a time-out, or a `Retry-After` where it has not grown: then the server
 * limits something else than the calls at once.
 */
export class CapacityWidth {
  readonly #max: number;
  #width: number;
  #isGrowing = true;
  /** Calls that the server works on now. */
  #working = 0;
  /** The most calls that it has worked on at once in this round. */
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
    if (inFlight < this.#width) return true;
    const at = this.probeAt;
    return at !== undefined && now >= at && inFlight === this.#width;
  }

  /** When a probe is due. */
  get probeAt(): number | undefined {
    if (this.#isGrowing || this.#isProbing || this.#width >= this.#max) return undefined;
    const needed = this.#width * 2 ** Math.min(this.#failedProbes, MAX_DOUBLINGS);
    if (this.#acceptedSince < needed) return undefined;
    const delayMs = Math.min(PROBE_AFTER_MS * 2 ** Math.min(this.#failedProbes, 10), MAX_PROBE_AFTER_MS);
    return this.#settledAt + Math.max(delayMs, this.#retryAfterMs * PROBE_AFTER_RETRIES);
  }

  sent(inFlight: number): SentCall {
    const position = inFlight + 1;
    const isProbe = position > this.#width;
    this.#isProbing ||= isProbe;
    return { round: this.#round, position, isProbe, isAccepted: false };
  }

  /** The server works on the call. */
  accepted(call: SentCall): void {
    if (call.isAccepted) return;
    this.#accept(call);
    // Others may have ended while a probe was on its way: then it proves nothing.
    this.#grow(call, this.#working);
  }

  /** The call has been answered well. */
  answered(call: SentCall): void {
    const isNews = !call.isAccepted;
    if (isNews) this.#accept(call);
    if (isNews || this.#isGrowing) this.#grow(call, call.position);
  }

  #accept(call: SentCall): void {
    call.isAccepted = true;
    this.#working += 1;
    if (call.round === this.#round) this.#acceptedSince += 1;
  }

  #grow(call: SentCall, held: number): void {
    if (call.round !== this.#round) return;
    this.#held = Math.max(this.#held, held);
    if (call.isProbe && this.#held > this.#width) {
      this.#isGrowing = true;
      this.#failedProbes = 0;
    }
    if (this.#isGrowing && this.#width < Math.min(this.#max, 2 * this.#held)) this.#width += 1;
  }

  refused(call: SentCall, refusal: Refusal): void {
    const { inFlight, now, retryAfterMs } = refusal;
    if (call.round !== this.#round) {
      // It was sent before the refusal that has been heard, and tells the same limit more exactly.
      if (this.#foundLimit) this.#width = Math.max(1, Math.min(this.#width, Math.max(inFlight, this.#width - 1)));
      return;
    }
    const isNews = this.#isGrowing || call.isProbe;
    this.#retryAfterMs = retryAfterMs ?? 0;
    const lateFreeMs = retryAfterMs === undefined ? MAX_LATE_FREE_MS : LATE_FREE_MS;
    if (!isNews && inFlight + 1 >= this.#width && this.lateFreeMs < lateFreeMs) {
      this.lateFreeMs = this.lateFreeMs === 0 ? LATE_FREE_MS : MAX_LATE_FREE_MS;
      return this.#beginRound(false);
    }
    if (!isNews && retryAfterMs !== undefined) return this.#halve(now);
    this.#settle(Math.max(1, Math.min(this.#max, call.isProbe ? Math.min(this.#width, inFlight) : inFlight)), now);
    this.#failedProbes = call.isProbe ? this.#failedProbes + 1 : 0;
    this.#beginRound(true);
  }

  /** The server is overloaded, or has not answered in time. */
  overloaded(call: SentCall, now: number): void {
    if (call.round === this.#round) this.#halve(now);
  }

  ended(call: SentCall): void {
    if (call.isAccepted) this.#working -= 1;
    if (call.isProbe) this.#isProbing = false;
  }

  #halve(now: number): void {
    this.#settle(Math.max(1, Math.floor(this.#width / 2)), now);
    this.#failedProbes = 0;
    this.#beginRound(false);
  }

  #settle(width: number, now: number): void {
    this.#width = width;
    this.#isGrowing = false;
    this.#settledAt = now;
    this.#acceptedSince = 0;
  }

  #beginRound(foundLimit: boolean): void {
    this.#round += 1;
    this.#foundLimit = foundLimit;
    this.#held = 0;
  }
}
