import type { Json } from "../../../core/json.ts";

/** Recently used values of this process, bounded by the size of their JSON. */
export class ValueCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string | number, { readonly value: Json; readonly bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: number | string): Json | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // The order of insertion is the order of use.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: number | string, value: Json, bytes: number): void {
    if (bytes > this.#maxBytes) return;
    this.#drop(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  dropWhere(isStale: (key: number | string) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (isStale(key)) this.#drop(key);
  }

  #drop(key: number | string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
