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
  readonly now: number;
  readonly retryAfterMs: number | undefined;
}

const START = 8;
const PROBE_AFTER_MS = 5_000;
const MAX_PROBE_AFTER_MS = 300_000;
/** A probe that is refused closes the pool for the server's `Retry-After`: this keeps that to a tenth of the time. */
const PROBE_AFTER_RETRIES = 10;
/** A server that refuses so large a part of what it held before, a quarter, can do less now. */
const MANY = 4;
const MAX_DOUBLINGS = 4;
const LATE_FREE_MS = 10;
const MAX_LATE_FREE_MS = 40;

/**
 * Finds out how many calls a server takes at once. The width grows by one for each call that is taken in, until one is
 * refused: what is in flight then is the limit, and the width stays there. From time to time one call more probes whether
 * the limit is still true, ever more rarely, and the width grows again if it is taken. A refusal of as many calls as it
 * has taken before lowers the width, many of them halve it, and so do an overload and a time-out. Calls that were on
 * their way together are one signal.
 */
export class CapacityWidth {
  readonly #max: number;
  /** Calls of other processes that are in flight at the same server: the width is that of all together. */
  #elsewhere = 0;
  /** The part of a known width that is this process's. */
  #fair = Number.POSITIVE_INFINITY;
  #width: number;
  #isGrowing = true;
  /** Calls that the server works on now. */
  #working = 0;
  /** The most calls that it has worked on at once in this round. */
  #held = 0;
  #round = 0;
  /** To this width refusals of calls that were sent before may bring it. */
  #least = 1;
  #hasHalved = false;
  #refusedInWave = 0;
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

  share({ elsewhere, fair }: { readonly elsewhere: number; readonly fair: number | undefined }): void {
    this.#elsewhere = elsewhere;
    this.#fair = fair ?? Number.POSITIVE_INFINITY;
    // Refusals tell too little while nobody knows what others do.
    const all = this.#working + elsewhere;
    if (!this.#isGrowing && elsewhere > 0) this.#width = Math.min(this.#max, Math.max(this.#width, all));
  }

  /** Undefined: the server may take more. */
  get known(): number | undefined {
    return this.#isGrowing ? undefined : this.#width;
  }

  get width(): number {
    return this.#width;
  }

  /** Whether one more call may be sent. `cooling`: places that may not be free yet. */
  allows({ inFlight, cooling, now }: { readonly inFlight: number; readonly cooling: number; readonly now: number }) {
    const all = inFlight + this.#elsewhere;
    if (all + cooling < this.#width) return this.#isGrowing || inFlight < this.#fair;
    const at = this.probeAt;
    return at !== undefined && now >= at && all === this.#width && cooling === 0;
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
    const position = inFlight + this.#elsewhere + 1;
    const isProbe = position > this.#width;
    this.#isProbing ||= isProbe;
    return { round: this.#round, position, isProbe, isAccepted: false };
  }

  /** The server works on the call. */
  accepted(call: SentCall): void {
    if (call.isAccepted) return;
    this.#accept(call);
    // A probe alone proves nothing: others may have ended while it was on its way.
    this.#grow(call, this.#working + this.#elsewhere);
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
    if (this.#held > this.#width) {
      this.#isGrowing = true;
      this.#failedProbes = 0;
    }
    if (this.#isGrowing && this.#width < Math.min(this.#max, 2 * this.#held)) this.#width += 1;
  }

  /** What was refused was not the number of calls at once: it grows again. */
  release(): void {
    this.#isGrowing = true;
    this.#failedProbes = 0;
  }

  refused(call: SentCall, { now, retryAfterMs }: Refusal): void {
    const limit = Math.max(1, Math.min(this.#width, call.position - 1));
    if (call.round !== this.#round) return this.#noteSameWave(limit, now);
    const isGrowth = this.#isGrowing || call.isProbe;
    this.#retryAfterMs = retryAfterMs ?? 0;
    this.#failedProbes = call.isProbe ? this.#failedProbes + 1 : 0;
    if (isGrowth) return this.#settle(limit, { least: 1, now });
    const isFreedLate = call.position >= this.#width && this.lateFreeMs < MAX_LATE_FREE_MS;
    this.lateFreeMs = !isFreedLate ? 0 : this.lateFreeMs === 0 ? LATE_FREE_MS : MAX_LATE_FREE_MS;
    // A server that closes for a while at each refusal is not tried like that again.
    if (isFreedLate && retryAfterMs === undefined) return this.#beginRound(this.#width);
    const half = Math.max(1, Math.floor(this.#width / 2));
    this.#settle(Math.max(half, limit), { least: half, now });
  }

  /** The call was sent before the refusal that has been heard: together they tell the limit more exactly. */
  #noteSameWave(limit: number, now: number): void {
    this.#refusedInWave += 1;
    this.#width = Math.max(this.#least, limit);
    if (this.#least > 1 && this.#refusedInWave * MANY > this.#width) this.#halve(now);
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
    if (this.#hasHalved) return;
    this.#failedProbes = 0;
    const half = Math.max(1, Math.floor(this.#width / 2));
    this.#settle(half, { least: half, now });
    this.#hasHalved = true;
  }

  #settle(width: number, { least, now }: { readonly least: number; readonly now: number }): void {
    this.#width = width;
    this.#isGrowing = false;
    this.#settledAt = now;
    this.#acceptedSince = 0;
    this.#beginRound(least);
  }

  #beginRound(least: number): void {
    this.#round += 1;
    this.#least = least;
    this.#hasHalved = false;
    this.#refusedInWave = 0;
    this.#held = 0;
  }
}
