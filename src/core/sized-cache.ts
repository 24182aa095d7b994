interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

/** Recently used values, bounded by their sizes together: what was used longest ago goes first. The last one stays, however large it is. */
export class SizedCache<Key, Value> {
  readonly #max: number;
  readonly #entries = new Map<Key, Entry<Value>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // The order of insertion is the order of use.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: Key, value: Value, size: number): void {
    this.delete(key);
    this.#entries.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#size <= this.#max || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: Key): void {
    this.#size -= this.#entries.get(key)?.size ?? 0;
    this.#entries.delete(key);
  }

  dropWhere(isStale: (key: Key) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (isStale(key)) this.delete(key);
  }
}
