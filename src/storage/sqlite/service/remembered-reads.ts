import type { ServiceDatabase } from "./service-database.ts";

/** Names can be anything that a client sends. */
const MAX_KEPT = 1_000;

/**
 * A cache for reads that nearly every request needs, valid until somebody writes the file. It asks once in a turn of the
 * event loop whether another process has written.
 */
export class RememberedReads {
  readonly #database: ServiceDatabase;
  readonly #known = new Map<string, unknown>();
  #version: number | undefined;
  #hasLooked = false;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    database.whenWritten(() => this.#known.clear());
  }

  get<T>(key: string, read: () => T): T {
    if (!this.#hasLooked) this.#look();
    if (this.#known.has(key)) return this.#known.get(key) as T;
    const value = read();
    if (this.#known.size >= MAX_KEPT) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }

  #look(): void {
    const version = this.#database.readVersion();
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
    this.#hasLooked = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#hasLooked = false;
  };
}
