const START = 16;
/** What a success adds to the width: at first 1, so that it doubles with each wave; never less than a share of a width. */
const LEAST_GAIN = 0.05;
const LEAST_GROWTH = 1.25;
const GAIN_PER_LIMIT = 0.8;
const GAIN_PER_SUCCESS = 1.01;
const DOUBT_PER_REFUSAL = 0.9;
const MEAN_WEIGHT = 0.1;
/** Before any call has been answered, or refused. */
const USUAL_CALL_MS = 100;
const LEAST_REFUSED_IN_A_ROW = 8;
const CHANCE_HOLD = 1 / 8;
/** Where successes count for less, the server has a limit. */
const KNOWS_LIMIT = 0.5;
const FAIR_GROWTH = 1.08;
const SHORTEST_MS = 10;
const LONGEST_HOLD_MS = 2_000;
const LONGEST_WAIT_MS = 5_000;
const FIRST_PROBE_MS = 250;
const LONGEST_PROBE_MS = 10_000;
/** Of a closed pool. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** Calls that are refused together do not come back in one moment, nor much later than they were told. */
const RETRY_AFTER_JITTER = 0.02;

export interface SentCall {
  readonly sentAt: number;
  /** At most so many were with the server when it got this one: those in flight that it has not refused, and this one. */
  atMost: number;
  /** At least so many, since none of these can have ended before the server took it. */
  atLeast: number;
  isHeard: boolean;
}

/**
 * How many calls to one server may be in flight.
 *
 * A success while others wait makes the width larger. A refusal makes it smaller by one, and the next successes count for less, but only
 * where the server has not taken as many calls lately: all other refusals are by chance, and cost the call its own wait. In
 * balance about one call in twelve is refused by a server with a limit. Where calls are long, or the rate is limited, nothing
 * ends for a while, and one call more probes whether there is room. It takes events with their times (milliseconds) and has no clock.
 */
export class WidthRule {
  readonly #ceiling: number;
  readonly #random: () => number;
  /** In the order in which they were sent. */
  readonly #calls = new Set<SentCall>();
  #unheard = 0;
  #width: number;
  #gain = 1;
  /** So many at once the server has taken lately. */
  #proven = 0;
  #refusedInARow = 0;
  #callMs: number | undefined;
  #refusalMs = USUAL_CALL_MS;
  #probeMs = FIRST_PROBE_MS;
  #movedAt = 0;
  /** What this process may have while others want more, too. */
  #fair = Number.POSITIVE_INFINITY;

  /** `ceiling`: what is configured, or infinity. `random` is from 0 to 1. */
  constructor({ ceiling, random }: { readonly ceiling: number; random(): number }) {
    this.#ceiling = ceiling;
    this.#random = random;
    this.#width = Math.min(START, ceiling);
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  get width(): number {
    return Math.max(1, Math.round(this.#width));
  }

  /** The server takes nothing: it is asked by one call at a time. */
  get isClosed(): boolean {
    return this.#refusedInARow >= Math.max(this.width, LEAST_REFUSED_IN_A_ROW);
  }

  /** When time alone allows one call more. */
  get probeAt(): number {
    return this.#movedAt + this.#probeMs;
  }

  /** Whether one more call may be sent. `held` are places that stay empty after a refusal. */
  allows(held: number, now: number): boolean {
    if (this.isClosed && this.#unheard + held > 0) return false;
    const room = now < this.probeAt ? this.width : this.width + 1;
    return this.inFlight + held < (this.#gain < KNOWS_LIMIT ? Math.min(room, this.#fair) : room);
  }

  sent(now: number): SentCall {
    const position = this.#calls.size + 1;
    const call = { sentAt: now, atMost: position, atLeast: position, isHeard: false };
    this.#calls.add(call);
    this.#unheard += 1;
    this.#movedAt = now;
    return call;
  }

  /** The server works on the call. */
  taken(call: SentCall, { othersWait }: { readonly othersWait: boolean }): void {
    this.#hear(call);
    this.#refusedInARow = 0;
    this.#gain = Math.min(1, this.#gain * GAIN_PER_SUCCESS);
    this.#proven = Math.max(this.#proven, call.atLeast);
    if (call.atLeast > this.width) this.#foundRoom(call.atLeast);
    if (!othersWait) return;
    const growth = Math.max(this.#gain, Math.min(1, LEAST_GROWTH / this.#width));
    this.#width = Math.min(this.#ceiling, this.#width + growth);
  }

  /** By a probe: what had been refused was not the number of calls at once. */
  #foundRoom(width: number): void {
    this.#width = width;
    this.#gain = 1;
    this.#probeMs = FIRST_PROBE_MS;
  }

  answered(call: SentCall, now: number): void {
    this.#refusedInARow = 0;
    this.#callMs = mean(this.#callMs, now - call.sentAt);
  }

  /** Returns for how long the place of the call stays empty, in milliseconds. */
  refused(
    call: SentCall,
    { now, retryAfterMs = 0 }: { readonly now: number; readonly retryAfterMs?: number | undefined },
  ) {
    const wasClosed = this.isClosed;
    const isByChance = call.atMost <= this.#proven;
    this.#refusedInARow += 1;
    this.#refusalMs = mean(this.#refusalMs, now - call.sentAt);
    this.#stepUp(call);
    if (isByChance) this.#proven *= DOUBT_PER_REFUSAL;
    else if (!wasClosed) this.#shrink(call);
    const usualMs = Math.min(LONGEST_HOLD_MS, this.#callMs ?? USUAL_CALL_MS) * (isByChance ? CHANCE_HOLD : 1);
    const rounds = Math.min(10, Math.floor(this.#refusedInARow / this.width));
    const grownMs = rounds === 0 ? 0 : Math.min(LONGEST_HOLD_MS, Math.max(SHORTEST_MS, usualMs) * 2 ** rounds);
    const closedMs = this.isClosed ? Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) : 0;
    return Math.max(usualMs, grownMs, closedMs);
  }

  /** Those that were sent behind a refused call had one fewer before them. */
  #stepUp(refused: SentCall): void {
    let isBehind = false;
    for (const call of this.#calls) {
      if (isBehind) {
        call.atMost -= 1;
        call.atLeast -= 1;
      }
      isBehind ||= call === refused;
    }
  }

  #shrink(call: SentCall): void {
    if (call.atMost > this.width) {
      this.#probeMs = Math.min(Math.max(LONGEST_PROBE_MS, this.#callMs ?? 0), this.#probeMs * 2);
      return;
    }
    this.#width = Math.max(1, this.#width - 1);
    this.#gain = Math.max(LEAST_GAIN, this.#gain * GAIN_PER_LIMIT);
  }

  /** It is in flight no longer, however it ended. */
  ended(call: SentCall, now: number): void {
    this.#hear(call);
    this.#calls.delete(call);
    this.#movedAt = now;
    for (const other of this.#calls) if (!other.isHeard && now - other.sentAt < this.#refusalMs) other.atLeast -= 1;
  }

  #hear(call: SentCall): void {
    if (!call.isHeard) this.#unheard -= 1;
    call.isHeard = true;
  }

  /** For how long a call waits by itself that has been refused so many times. */
  waitMs(refusals: number, retryAfterMs: number | undefined): number {
    if (retryAfterMs !== undefined) return retryAfterMs * (1 + RETRY_AFTER_JITTER * this.#random());
    const firstMs = Math.max(SHORTEST_MS, (this.#callMs ?? USUAL_CALL_MS) / 2);
    return Math.min(LONGEST_WAIT_MS, firstMs * 2 ** Math.min(refusals - 1, 20)) * (0.5 + this.#random());
  }

  /** What other processes do at the same server: the calls in flight of all, and how many processes have calls that wait. */
  heard({ inFlight, wanting }: { readonly inFlight: number; readonly wanting: number }): void {
    this.#fair = Number.POSITIVE_INFINITY;
    if (wanting < 2) return;
    // A little more than the equal part, or what is found out here could only shrink. By chance up or down, so that each has its turn.
    this.#fair = Math.max(1, Math.floor((FAIR_GROWTH * inFlight) / wanting + this.#random()));
    this.#width = Math.min(this.#ceiling, Math.max(this.#width, this.#fair));
  }
}

function mean(known: number | undefined, value: number): number {
  return known === undefined ? value : known + MEAN_WEIGHT * (value - known);
}
