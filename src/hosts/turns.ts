import { setImmediate } from "node:timers/promises";

/** Work in memory, and reads of the journal, may go on for this long before requests of others get their turn. */
const MAX_TURN_MS = 8;

/** For work of many short parts, which keeps everybody waiting where nothing in it waits. */
export class Turns {
  #since = performance.now();

  /** Between two parts: lets others have their turn where they have waited for too long. */
  async pass(): Promise<void> {
    if (performance.now() - this.#since < MAX_TURN_MS) return;
    await setImmediate();
    this.#since = performance.now();
  }
}
