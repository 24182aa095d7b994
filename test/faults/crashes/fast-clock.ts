import { SystemClock } from "../../../src/app/system-clock.ts";
import type { Clock } from "../../../src/ports/clock.ts";

const EPOCH = Date.UTC(2026, 0, 2);

/** Time that runs faster than that of the machine, and in all processes of the machine alike. */
export class FastClock implements Clock {
  readonly #machine = new SystemClock();
  readonly #factor: number;

  constructor(factor: number) {
    this.#factor = factor;
  }

  now(): number {
    return this.at(Date.now());
  }

  /** The time here when it is a time of the machine. */
  at(machineMs: number): number {
    return EPOCH + Math.round((machineMs - EPOCH) * this.#factor);
  }

  wakeAt(atMs: number, wake: () => void): () => void {
    return this.#machine.wakeAt(EPOCH + (atMs - EPOCH) / this.#factor, wake);
  }
}
