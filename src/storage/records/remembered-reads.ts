import type { RecordDatabase } from "./record-database.ts";

/** Names can be anything that a client sends. */
const MAX_KEPT = 1_000;

/**
 * A cache for reads that nearly every request needs, valid until this process writes or another one may have written. It asks
 * for that once in a turn of the event loop.
 */
export class RememberedReads {
  readonly #database: RecordDatabase;
  readonly #known = new Map<string, unknown>();
  #mark: unknown;
  #looked: Promise<void> | undefined;
  /** Counts what may have made a read old that is under way. */
  #writes = 0;

  constructor(database: RecordDatabase) {
    this.#database = database;
    database.whenWritten(() => this.#forget());
  }

  async get<T>(key: string, read: () => Promise<T>): Promise<T> {
    this.#looked ??= this.#look();
    await this.#looked;
    if (this.#known.has(key)) return this.#known.get(key) as T;
    const writes = this.#writes;
    const value = await read();
    if (writes !== this.#writes) return value;
    if (this.#known.size >= MAX_KEPT) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }

  async #look(): Promise<void> {
    setImmediate(this.#endTurn);
    const mark = await this.#database.traits.readMark();
    if (mark !== this.#mark) this.#forget();
    this.#mark = mark;
  }

  #forget(): void {
    this.#writes += 1;
    this.#known.clear();
  }

  readonly #endTurn = (): void => {
    this.#looked = undefined;
  };
}
