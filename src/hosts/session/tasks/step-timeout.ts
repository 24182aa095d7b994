import type { Clock } from "../../../ports/clock.ts";

/** The time-out of an attempt. It stands still while the attempt waits for a server that can do no more at once. */
export class StepTimeout {
  readonly #clock: Clock;
  readonly #end: () => void;
  #leftMs: number;
  #since = 0;
  /** Calls of the attempt that wait. */
  #waits = 0;
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock, timeoutMs: number, end: () => void) {
    this.#clock = clock;
    this.#end = end;
    this.#leftMs = timeoutMs;
    this.#goOn();
  }

  pause(): void {
    this.#waits += 1;
    if (this.#waits > 1) return;
    this.stop();
    this.#leftMs -= this.#clock.now() - this.#since;
  }

  resume(): void {
    this.#waits -= 1;
    if (this.#waits === 0) this.#goOn();
  }

  stop(): void {
    this.#stopTimer?.();
  }

  #goOn(): void {
    this.#since = this.#clock.now();
    this.#stopTimer = this.#clock.wakeAt(this.#since + this.#leftMs, this.#end);
  }
}
