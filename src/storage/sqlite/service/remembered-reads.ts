import { prepareQuery, type Query } from "../statement.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** Names can be anything that a client sends. */
const MAX_KEPT = 1_000;

/**
 * Reads that nearly every request asks for, kept as long as nobody writes the file. Whether another process has is looked at
 * once in a turn of the event loop, for all requests that arrive in it; whoever writes here says so with `forget`.
 */
export class RememberedReads {
  readonly #dataVersion: Query<{ readonly data_version: number }>;
  readonly #known = new Map<string, unknown>();
  #version: number | undefined;
  #hasLooked = false;

  constructor(database: ServiceDatabase) {
    this.#dataVersion = prepareQuery(database, "PRAGMA data_version");
  }

  get<T>(key: string, read: () => T): T {
    if (!this.#hasLooked) this.#look();
    if (this.#known.has(key)) return this.#known.get(key) as T;
    const value = read();
    if (this.#known.size >= MAX_KEPT) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }

  forget(): void {
    this.#known.clear();
  }

  #look(): void {
    const version = this.#dataVersion.get()?.data_version;
    if (version !== this.#version) this.#known.clear();
    this.#version = version;
    this.#hasLooked = true;
    setImmediate(this.#endTurn);
  }

  readonly #endTurn = (): void => {
    this.#hasLooked = false;
  };
}
