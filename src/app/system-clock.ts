import type { TestClock } from "../ports/clock.ts";

/** The longest that a timer of Node can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

interface Alarm {
  readonly atMs: number;
  readonly wake: () => unknown;
  timer?: NodeJS.Timeout;
}

/** The time of this machine, or of a database server, which all of its processes share. */
export class SystemClock implements TestClock {
  readonly #offsetMs: () => number;
  readonly #alarms = new Set<Alarm>();
  #movedMs = 0;

  constructor(offsetMs = () => 0) {
    this.#offsetMs = offsetMs;
  }

  /** Added to the time of this machine it is this one. */
  get offsetMs(): number {
    return this.#offsetMs() + this.#movedMs;
  }

  now(): number {
    return Date.now() + this.offsetMs;
  }

  wakeAt(atMs: number, wake: () => unknown): () => void {
    const alarm: Alarm = { atMs, wake };
    this.#alarms.add(alarm);
    this.#arm(alarm);
    return () => this.#drop(alarm);
  }

  get nextAlarm(): number | undefined {
    return this.#alarms.size === 0 ? undefined : Math.min(...[...this.#alarms].map(({ atMs }) => atMs));
  }

  async moveTo(atMs: number): Promise<void> {
    this.#movedMs += Math.max(atMs - this.now(), 0);
    const due = [...this.#alarms].filter((alarm) => alarm.atMs <= atMs).sort((a, b) => a.atMs - b.atMs);
    const woken = due.map((alarm) => (this.#alarms.has(alarm) ? this.#ring(alarm) : undefined));
    for (const alarm of this.#alarms) this.#arm(alarm);
    await Promise.all(woken);
  }

  /** Nothing wakes any more: the process may end. */
  stop(): void {
    for (const alarm of this.#alarms) this.#drop(alarm);
  }

  #arm(alarm: Alarm): void {
    clearTimeout(alarm.timer);
    const ring = () => {
      // A timer of Node may be a millisecond early, and cannot wait for longer than its longest.
      if (this.now() < alarm.atMs) this.#arm(alarm);
      else this.#ring(alarm);
    };
    alarm.timer = setTimeout(ring, Math.min(Math.max(alarm.atMs - this.now(), 0), MAX_DELAY_MS));
  }

  #ring(alarm: Alarm): unknown {
    this.#drop(alarm);
    return alarm.wake();
  }

  #drop(alarm: Alarm): void {
    clearTimeout(alarm.timer);
    this.#alarms.delete(alarm);
  }
}
