import type { Clock } from "../../src/ports/clock.ts";

interface Alarm {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A turn of the event loop: what is ready goes on, no time passes. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Enough turns for everything that needs no time and no disk: binding, a commit, what it wished, and again. */
const TURNS = 120;

/** Lets everything happen that waits for nothing outside. */
export async function quiet(turns = TURNS): Promise<void> {
  for (let left = turns; left > 0; left -= 1) await turn();
}

/** Time that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  readonly #alarms = new Set<Alarm>();

  constructor(startMs = Date.UTC(2026, 0, 2)) {
    this.#now = startMs;
  }

  /** How many would still ring. */
  get armed(): number {
    return this.#alarms.size;
  }

  now(): number {
    return this.#now;
  }

  wakeAt(atMs: number, wake: () => void): () => void {
    const alarm: Alarm = { atMs, wake };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  /** Rings whatever is due on the way, in order, and lets what follows from each happen before the next. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await quiet();
    for (let next = this.#firstUntil(target); next !== undefined; next = this.#firstUntil(target)) {
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.atMs);
      next.wake();
      await quiet();
    }
    this.#now = target;
  }

  /** Somebody sets it: nothing rings that a timer of this machine would not notice. */
  jump(ms: number): void {
    this.#now += ms;
  }

  #firstUntil(target: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms)
      if (alarm.atMs <= target && (first === undefined || alarm.atMs < first.atMs)) first = alarm;
    return first;
  }
}
