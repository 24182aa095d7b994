import { isBefore, type Journal, type LoggedEvent, type LogPosition } from "../../ports/journal.ts";

const KEPT = 10_000;
const PAGE = 500;

/**
 * The latest events of all runs, read once for everybody who follows them closely. What is in memory is what the journal
 * says: whoever observes commits only tells it to look.
 */
export class LogTail<Entry extends { readonly position: LogPosition }> {
  readonly #journal: Journal;
  readonly #toEntry: (event: LoggedEvent) => Entry | undefined;
  /** A ring: the entry numbered n lies at n modulo its size. */
  readonly #kept: Entry[] = [];
  readonly #waiting = new Set<() => void>();
  #count = 0;
  /** Everything behind it, up to the end, is kept. */
  #floor: LogPosition;
  #end: LogPosition;
  #reading: Promise<void> | undefined;
  #isDue = false;

  /** `toEntry`: what is kept of an event, if anything. */
  constructor(journal: Journal, begin: LogPosition, toEntry: (event: LoggedEvent) => Entry | undefined) {
    this.#journal = journal;
    this.#toEntry = toEntry;
    this.#floor = begin;
    this.#end = begin;
  }

  /** Something was committed. Many at once are one look. */
  look(): Promise<void> {
    this.#isDue = true;
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** Undefined: not everything behind `after` is kept. */
  read(
    after: LogPosition,
    limit: number,
  ): { readonly entries: readonly Entry[]; readonly end: LogPosition } | undefined {
    if (isBefore(after, this.#floor)) return undefined;
    if (!isBefore(after, this.#end)) return { entries: [], end: after };
    const first = this.#find(after);
    const last = Math.min(this.#count, first + limit);
    const entries: Entry[] = [];
    for (let n = first; n < last; n += 1) {
      const entry = this.#kept[n % KEPT];
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, end: last === this.#count ? this.#end : (entries.at(-1)?.position ?? after) };
  }

  /** Resolves when there may be something behind `after`, or when `stop` aborts. */
  async next(after: LogPosition, stop: AbortSignal): Promise<void> {
    if (isBefore(after, this.#end) || stop.aborted) return;
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

  async #readOn(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      for (;;) {
        const { events, end } = await this.#journal.readLog({ after: this.#end, limit: PAGE });
        if (!isBefore(this.#end, end)) break;
        for (const event of events) this.#keep(this.#toEntry(event));
        this.#end = end;
        for (const wake of [...this.#waiting]) wake();
      }
    }
  }

  #keep(entry: Entry | undefined): void {
    if (entry === undefined) return;
    const slot = this.#count % KEPT;
    this.#floor = this.#kept[slot]?.position ?? this.#floor;
    this.#kept[slot] = entry;
    this.#count += 1;
  }

  /** The number of the first entry behind `after`. */
  #find(after: LogPosition): number {
    let low = Math.max(0, this.#count - KEPT);
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const found = this.#kept[middle % KEPT];
      if (found !== undefined && isBefore(after, found.position)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
