import { setImmediate } from "node:timers";

/** Work in memory, and reads of the journal, may go on for this long before requests of others get their turn. */
const MAX_TURN_MS = 8;
/** The same while other work of this kind waits for its turn. */
const SHORT_TURN_MS = 1;

/**
 * For work of many short parts, which keeps everybody waiting where nothing in it waits. All such work of the process
 * stands in one line, and one of it goes on in each round of the event loop: a hundred long reads at once keep a request
 * waiting no longer than one.
 */
export class Turns {
  // The line is the event loop's, of which a process has one.
  static readonly #line: (() => void)[] = [];
  #since = performance.now();

  /** Between two parts: lets others have their turn where they have waited for too long. */
  async pass(): Promise<void> {
    const mayTakeMs = Turns.#line.length === 0 ? MAX_TURN_MS : SHORT_TURN_MS;
    if (performance.now() - this.#since < mayTakeMs) return;
    await new Promise<void>((resolve) => {
      Turns.#line.push(resolve);
      if (Turns.#line.length === 1) setImmediate(Turns.#letNextGoOn);
    });
    this.#since = performance.now();
  }

  static readonly #letNextGoOn = () => {
    Turns.#line.shift()?.();
    if (Turns.#line.length > 0) setImmediate(Turns.#letNextGoOn);
  };
}
