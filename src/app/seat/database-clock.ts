import { SystemClock } from "../system-clock.ts";

/** The time of a database server, which is everybody's: clocks of machines differ. */
export class DatabaseClock extends SystemClock {
  readonly #offsetMs: () => number;

  /** `offsetMs`: what is added to the time of this machine. */
  constructor(offsetMs: () => number) {
    super();
    this.#offsetMs = offsetMs;
  }

  override get offsetMs(): number {
    return this.#offsetMs();
  }

  override now(): number {
    return super.now() + this.#offsetMs();
  }
}
