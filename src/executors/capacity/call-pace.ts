import type { RateLimits, RateWindow } from "./rate-headers.ts";

/** One call on its way, as the pace counts it. */
export interface PacedCall {
  /** Counts the calls that were sent. */
  readonly no: number;
  readonly sentAt: number;
  /** How many were in flight with it, itself included. */
  readonly position: number;
}

/** What is left of a limit that the server has told of. */
interface Window {
  readonly remaining: number;
  /** Calls that may be sent in it. */
  left: number;
  readonly until: number;
  /** The call with which it was told. */
  readonly of: number;
}

/** Refusals since the last call that was taken in. */
interface Pause {
  readonly from: number;
  /** Of the first one. */
  readonly position: number;
  /** More were in flight than the server had taken before. */
  readonly isGrowth: boolean;
  tries: number;
}

/** A refusal comes sooner. */
const HEARD_AFTER_MS = 150;
const FIRST_BURST = 6;
const MOST_LARGER = 16;
const LATER_BURST = 10;
/** After a refusal the next calls go in smaller groups, until so many are taken in. */
const CAUTIOUS_BURST = 3;
const CAUTIOUS_FOR = 8;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 15_000;
/** A place that is freed a moment late is no limit of the rate. */
const LATE_FREE_MS = 100;
/** A little less than what was measured: calls are late by chance. */
const MARGIN = 0.9;
const LEAST_FALL = 0.85;
const MOST_FALL = 0.5;
const GROW_AFTER_CALLS = 20;
const MIN_GROW_AFTER_MS = 1_000;
const MAX_GROW_AFTER_MS = 10_000;
const GROWTH = 0.1;
const MAX_DOUBLINGS = 4;
/** What a server tells of its window holds for no longer. */
const MAX_WINDOW_MS = 60_000;
/** Calls may be late by so much without the others waiting longer. */
const CATCH_UP_MS = 20;
const APPROACH = 0.25;

/**
 * Finds out how many calls a second a server takes, where it limits them by rate: more calls in flight help as little there as fewer.
 * Calls go in small groups, so that few are on their way when the server says no; after a refusal one goes alone, after growing
 * pauses. A refusal while no more were in flight than before means a limit of the rate, and what was taken in from one refusal to the
 * end of the next is measured. From then on calls keep a distance, which shrinks from time to time, ever more rarely where that is
 * refused. Where a server says what is left of its window, no more than that is sent in it.
 */
export class CallPace {
  /** Called once, when the server is found to limit the rate. */
  readonly #found: () => void;
  #sent = 0;
  readonly #unheard = new Set<PacedCall>();
  #mostInFlight = 0;
  /** Undefined: no limit is known. */
  #perSecond: number | undefined;
  #nextAt = 0;
  /** Since when calls are counted that are taken in. */
  #since: number | undefined;
  #taken = 0;
  #refusedAt = 0;
  #pause: Pause | undefined;
  #hasRefused = false;
  /** In a row, soon after one another. */
  #shortPauses = 0;
  #grownAt = 0;
  #takenSinceGrowth = 0;
  /** Calls have waited for their distance since the last growth. */
  #isBinding = false;
  #growths = 0;
  #failedGrowths = 0;
  /** What the server has said. */
  #calls: Window | undefined;
  #tokens: Window | undefined;
  #tokensPerCall = 1;

  constructor(found: () => void) {
    this.#found = found;
  }

  /** Undefined: the server is not known to limit the rate. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Processes that ask the same server come to send equally many a second. */
  approach(mean: number): void {
    if (this.#perSecond !== undefined) this.#perSecond += APPROACH * (mean - this.#perSecond);
  }

  /** When the next call may be sent. */
  nextAt(now: number): number {
    if (this.#nextAt > now) this.#isBinding = true;
    return Math.max(this.#nextAt, opensAt(this.#calls), opensAt(this.#tokens), this.#heardAt(now));
  }

  /** When few enough calls are on their way of which nothing was heard. */
  #heardAt(now: number): number {
    const young: number[] = [];
    for (const call of this.#unheard) {
      if (call.sentAt + HEARD_AFTER_MS > now) young.push(call.sentAt);
      else this.taken(call, now);
    }
    const over = young.length - this.#burst;
    return over < 0 ? 0 : (young[over] ?? now) + HEARD_AFTER_MS;
  }

  get #burst(): number {
    if (this.#pause !== undefined) return 1;
    if (this.#hasRefused && this.#taken < CAUTIOUS_FOR) return CAUTIOUS_BURST;
    if (this.#hasRefused) return Math.max(FIRST_BURST, Math.min(LATER_BURST, Math.floor(this.#mostInFlight / 2)));
    return Math.max(
      FIRST_BURST + Math.min(MOST_LARGER, Math.floor(this.#taken / 8)),
      Math.floor(this.#mostInFlight / 16),
    );
  }

  sent(inFlight: number, now: number): PacedCall {
    this.#sent += 1;
    this.#since ??= now;
    for (const window of [this.#calls, this.#tokens]) if (window !== undefined) window.left -= 1;
    if (this.#perSecond !== undefined)
      this.#nextAt = Math.max(this.#nextAt, now - CATCH_UP_MS) + 1_000 / this.#perSecond;
    const call = { no: this.#sent, sentAt: now, position: inFlight };
    this.#unheard.add(call);
    return call;
  }

  /** The server works on it, or has answered, or has had the time to refuse it. */
  taken(call: PacedCall, now: number): void {
    if (!this.#unheard.delete(call)) return;
    this.#taken += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, call.position);
    if (this.#pause === undefined) return this.#growWhereDue(now);
    // Those that were on their way when another one was refused tell nothing.
    if (call.sentAt >= this.#refusedAt) this.#endPause(this.#pause, call.position, now);
  }

  #endPause(pause: Pause, position: number, now: number): void {
    this.#pause = undefined;
    this.#mostInFlight = Math.min(this.#mostInFlight, Math.max(1, pause.position - 1));
    const isNews = this.#perSecond === undefined;
    // As many in flight are taken now: the last step of the growth was one too many.
    const isGrowth = this.#growths > 0 && position >= pause.position;
    const isShort = now - pause.from <= LATE_FREE_MS;
    this.#shortPauses = !isShort || pause.isGrowth ? 0 : this.#taken < 50 ? this.#shortPauses + 1 : 1;
    if (isOfRate(pause, now) || isGrowth || this.#shortPauses > 2) {
      this.#measure(now);
      if (isNews) this.#found();
    } else if (!isNews) {
      this.#growths = Math.min(this.#growths, 1);
      this.#beginGrowth(now);
    }
    this.#since = now;
    this.#taken = 0;
  }

  /** Nobody will hear of it any more. */
  lost(call: PacedCall): void {
    this.#unheard.delete(call);
  }

  refused(call: PacedCall, now: number): void {
    this.#unheard.delete(call);
    // It was on its way when another one was refused.
    if (call.sentAt < this.#refusedAt) return;
    this.#hasRefused = true;
    this.#refusedAt = now;
    const { position } = call;
    if (this.#pause === undefined) {
      this.#pause = { from: now, position, isGrowth: position > this.#mostInFlight, tries: 0 };
      return;
    }
    this.#pause.tries += 1;
    const firstMs = Math.max(FIRST_PAUSE_MS, this.#perSecond === undefined ? 0 : 500 / this.#perSecond);
    const pauseMs = Math.min(MAX_PAUSE_MS, firstMs * 3 ** Math.min(this.#pause.tries, 10));
    this.#nextAt = Math.max(this.#nextAt, now + pauseMs);
  }

  /** What the server has said of its limits when it took a call. Calls that were sent after that one may not be counted yet. */
  told({ calls, tokens }: RateLimits, call: PacedCall, now: number): void {
    this.#calls = toWindow(calls, { call, sent: this.#sent, perCall: 1, before: this.#calls, now });
    const before = this.#tokens;
    if (tokens !== undefined && before !== undefined && before.of < call.no && tokens.remaining < before.remaining)
      this.#tokensPerCall = (before.remaining - tokens.remaining) / (call.no - before.of);
    const perCall = this.#tokensPerCall;
    this.#tokens = toWindow(tokens, { call, sent: this.#sent, perCall, before, now });
  }

  #measure(now: number): void {
    const seconds = Math.max(1, now - (this.#since ?? now)) / 1_000;
    const measured = (MARGIN * Math.max(1, this.#taken)) / seconds;
    const known = this.#perSecond;
    this.#perSecond =
      known === undefined ? measured : Math.min(LEAST_FALL * known, Math.max(MOST_FALL * known, measured));
    if (known !== undefined && this.#growths > 0) this.#failedGrowths += 1;
    this.#nextAt = Math.max(this.#nextAt, now + 1_000 / this.#perSecond);
    this.#growths = 0;
    this.#beginGrowth(now);
  }

  #growWhereDue(now: number): void {
    if (this.#perSecond === undefined) return;
    this.#takenSinceGrowth += 1;
    const times = 2 ** Math.min(this.#failedGrowths, MAX_DOUBLINGS);
    const waitedMs = now - this.#grownAt;
    const isDue = this.#takenSinceGrowth >= GROW_AFTER_CALLS * times && waitedMs >= MIN_GROW_AFTER_MS * times;
    if (!this.#isBinding || (!isDue && waitedMs < MAX_GROW_AFTER_MS * times)) return;
    this.#perSecond *= 1 + GROWTH * 2 ** Math.min(this.#growths, 3);
    this.#growths += 1;
    this.#beginGrowth(now);
  }

  #beginGrowth(now: number): void {
    this.#isBinding = false;
    this.#grownAt = now;
    this.#takenSinceGrowth = 0;
  }
}

interface Told {
  readonly call: PacedCall;
  readonly sent: number;
  readonly perCall: number;
  readonly before: Window | undefined;
  readonly now: number;
}

function toWindow(window: RateWindow | undefined, { call, sent, perCall, before, now }: Told): Window | undefined {
  const isOver = before === undefined || before.until <= now;
  if (window === undefined || (!isOver && before.of > call.no)) return before;
  const until = Math.min(window.resetAt, now + MAX_WINDOW_MS);
  const { remaining } = window;
  return { remaining, left: Math.floor(remaining / perCall) - (sent - call.no), until, of: call.no };
}

function opensAt(window: Window | undefined): number {
  return window === undefined || window.left > 0 ? 0 : window.until;
}

/** Fewer calls in flight did not help, or no more were in flight than before. */
function isOfRate({ from, isGrowth, tries }: Pause, now: number): boolean {
  return now - from > LATE_FREE_MS && (tries >= 3 || !isGrowth);
}
