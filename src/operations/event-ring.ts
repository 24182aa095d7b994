/** The latest entries, numbered from 1. Whoever reads keeps a number and nothing else, so that a slow reader costs no memory. */
export class EventRing<Entry> {
  readonly #max: number;
  readonly #entries: Entry[] = [];
  readonly #waiting = new Set<() => void>();
  /** The number of the newest. */
  #last = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get last(): number {
    return this.#last;
  }

  add(entry: Entry): void {
    this.#entries[this.#last % this.#max] = entry;
    this.#last += 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Entries behind `after`, oldest first, and how many of those are not kept any more. */
  read(
    after: number,
    limit: number,
  ): { readonly entries: readonly Entry[]; readonly next: number; readonly missed: number } {
    const oldest = Math.max(0, this.#last - this.#max);
    const from = Math.max(after, oldest);
    const next = Math.min(this.#last, from + limit);
    const entries: Entry[] = [];
    for (let n = from; n < next; n += 1) {
      const entry = this.#entries[n % this.#max];
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, next, missed: from - after };
  }

  /** Resolves when there is one behind `after`, or when `stop` aborts. */
  async next(after: number, stop: AbortSignal): Promise<void> {
    if (this.#last > after || stop.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        stop.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      stop.addEventListener("abort", wake, { once: true });
    });
  }
}
