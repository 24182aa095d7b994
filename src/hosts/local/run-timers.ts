import { ChurnMap } from "../../core/churn-map.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LiveRun } from "../session/live-run.ts";

/** Timers of the runs in memory. The journal keeps them; here they only fire. */
export class RunTimers {
  readonly #clock: Clock;
  readonly #fire: (run: LiveRun, timer: string) => void;
  readonly #running = new ChurnMap<LiveRun, Map<string, () => void>>();

  constructor(clock: Clock, fire: (run: LiveRun, timer: string) => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  start(run: LiveRun, timer: string, at: number): void {
    const timers = this.#running.get(run) ?? new Map<string, () => void>();
    this.#running.set(run, timers);
    timers.get(timer)?.();
    const stop = this.#clock.wakeAt(at, () => {
      timers.delete(timer);
      this.#fire(run, timer);
    });
    timers.set(timer, stop);
  }

  stop(run: LiveRun, timer: string): void {
    const timers = this.#running.get(run);
    timers?.get(timer)?.();
    timers?.delete(timer);
  }

  forget(run: LiveRun): void {
    for (const stop of this.#running.get(run)?.values() ?? []) stop();
    this.#running.delete(run);
  }

  stopAll(): void {
    for (const run of [...this.#running.keys()]) this.forget(run);
  }
}
