import { PawlError } from "../core/errors/pawl-error.ts";
import type { StartClock } from "../operations/application/ports.ts";

/** What a start waits for, by name, so that one deadline over all of it can say what has not answered. */
export class StartSteps {
  readonly #timeoutMs: number;
  readonly #place: () => string;
  /** Those under way, the latest last: it is within the others. */
  readonly #open = new Set<{ readonly part: string }>();
  /** Why the program is not ready, though all of it is open. */
  trouble: PawlError | undefined;

  /** `place`: where the data is. */
  constructor(timeoutMs: number, place: () => string) {
    this.#timeoutMs = timeoutMs;
    this.#place = place;
  }

  async step<T>(part: string, work: Promise<T>): Promise<T> {
    const step = { part };
    this.#open.add(step);
    try {
      return await work;
    } finally {
      this.#open.delete(step);
    }
  }

  /** From now on time counts. */
  clock(): StartClock {
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const run = () => {
      timer = setTimeout(() => over.reject(this.#lateness()), this.#timeoutMs);
    };
    run();
    return {
      race: (work, part) => Promise.race([part === undefined ? work : this.step(part, work), over.promise]),
      stop: () => clearTimeout(timer),
      pausedFor(person) {
        clearTimeout(timer);
        return person.finally(run);
      },
    };
  }

  #lateness(): PawlError {
    if (this.trouble !== undefined) return this.trouble;
    const part = [...this.#open].at(-1)?.part ?? "what comes first";
    return new PawlError("START_TIMED_OUT", {
      message: `The start over ${this.#place()} is not over after ${this.#timeoutMs / 1_000} s. It waits for ${part}.`,
    });
  }
}
