import type { Failed } from "../../ports/executor.ts";

export interface RefusedCall {
  readonly failed: Failed;
  readonly retryAfterMs: number | undefined;
  /** Other calls that the server still works on. */
  readonly inFlight: number;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 15_000;
const FIRST_OVERLOAD_PAUSE_MS = 1_000;
const MAX_OVERLOAD_PAUSE_MS = 60_000;

/** Until when nothing is sent to a server that refuses: as long as it asks for, and with growing pauses where it takes nothing at all. */
export class Closure {
  readonly #patienceMs: number;
  #until = 0;
  /** The first refusal since the server has taken a call. */
  #since: number | undefined;
  #pauses = 0;
  #overloadedSince: number | undefined;
  #overloads = 0;
  #last: Failed | undefined;

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs;
  }

  /** Milliseconds since the epoch; in the past where the server may be asked. */
  get until(): number {
    return this.#until;
  }

  /** The server has told another process. */
  heard(until: number): void {
    this.#until = Math.max(this.#until, until);
  }

  accepted(): void {
    this.#since = undefined;
    this.#pauses = 0;
  }

  /** A call was answered well. */
  answered(): void {
    this.#overloadedSince = undefined;
    this.#overloads = 0;
  }

  /** Calls that it had taken have failed of an overload. False: that has gone on for too long. */
  overloaded(now: number): boolean {
    this.#overloadedSince ??= now;
    if (now - this.#overloadedSince > this.#patienceMs) return false;
    // Those that were in flight together are one signal.
    if (this.#until > now) return true;
    const pauseMs = Math.min(MAX_OVERLOAD_PAUSE_MS, FIRST_OVERLOAD_PAUSE_MS * 2 ** Math.min(this.#overloads, 10));
    this.#overloads += 1;
    this.#until = now + pauseMs;
    return true;
  }

  refused({ failed, retryAfterMs = 0, inFlight }: RefusedCall, now: number): void {
    this.#since ??= now;
    this.#last = failed;
    const pauseMs = inFlight > 0 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#pauses, 10));
    if (inFlight === 0) this.#pauses += 1;
    this.#until = Math.max(this.#until, now + Math.max(retryAfterMs, pauseMs));
  }

  /** The last refusal, if the server has taken nothing for too long, or asks for more time than anybody waits. */
  givenUp(inFlight: number, now: number): Failed | undefined {
    const opensInMs = this.#until - now;
    if (opensInMs <= 0) return undefined;
    const refusesForMs = this.#since === undefined || inFlight > 0 ? 0 : now - this.#since;
    return refusesForMs + opensInMs > this.#patienceMs ? this.#last : undefined;
  }
}
