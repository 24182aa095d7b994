import type { Clock } from "../ports/clock.ts";

/** The longest that a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time of this machine, or of a database server, which all of its processes share. */
export class SystemClock implements Clock {
  readonly #offsetMs: () => number;
  readonly #timers = new Set<{ timer?: NodeJS.Timeout }>();

  constructor(offsetMs = () => 0) {
    this.#offsetMs = offsetMs;
  }

  /** Added to the time of this machine it is this one. */
  get offsetMs(): number {
    return this.#offsetMs();
  }

  now(): number {
    return Date.now() + this.#offsetMs();
  }

  wakeAt(atMs: number, wake: () => void): () => void {
    const alarm: { timer?: NodeJS.Timeout } = {};
    const ring = () => {
      // A timer of Node may be a millisecond early, and cannot wait for longer than its longest.
      if (this.now() < atMs) return arm();
      this.#timers.delete(alarm);
      wake();
    };
    const arm = () => {
      alarm.timer = setTimeout(ring, Math.min(Math.max(atMs - this.now(), 0), MAX_DELAY_MS));
    };
    this.#timers.add(alarm);
    arm();
    return () => {
      clearTimeout(alarm.timer);
      this.#timers.delete(alarm);
    };
  }

  /** Nothing wakes any more: the process may end. */
  stop(): void {
    for (const { timer } of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
