import type { Clock } from "../../ports/clock.ts";
import type { RunDriver } from "./run-driver.ts";

/** Timers of the runs in memory. They live in the journal; here they only ring. */
export class RunTimers {
  readonly #clock: Clock;
  readonly #fire: (driver: RunDriver, timer: string) => void;
  readonly #running = new Map<RunDriver, Map<string, () => void>>();

  constructor(clock: Clock, fire: (driver: RunDriver, timer: string) => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  start(driver: RunDriver, timer: string, at: number): void {
    const timers = this.#running.get(driver) ?? new Map<string, () => void>();
    this.#running.set(driver, timers);
    timers.get(timer)?.();
    const stop = this.#clock.wakeAt(at, () => {
      timers.delete(timer);
      this.#fire(driver, timer);
    });
    timers.set(timer, stop);
  }

  stop(driver: RunDriver, timer: string): void {
    const timers = this.#running.get(driver);
    timers?.get(timer)?.();
    timers?.delete(timer);
  }

  forget(driver: RunDriver): void {
    for (const stop of this.#running.get(driver)?.values() ?? []) stop();
    this.#running.delete(driver);
  }

  stopAll(): void {
    for (const driver of [...this.#running.keys()]) this.forget(driver);
  }
}
