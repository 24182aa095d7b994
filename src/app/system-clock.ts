import type { Clock } from "../ports/clock.ts";

/** The longest that a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time of this machine. */
export class SystemClock implements Clock {
  readonly #timers = new Set<{ timer?: NodeJS.Timeout }>();

  /** Added to the time of this machine it is this one. */
  get offsetMs(): number {
    return 0;
  }

  now(): number {
    return Date.now();
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
