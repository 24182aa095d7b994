/** So many additions, beside as many as there are entries, go into one table. */
const SPARE = 32;

/**
 * A map of this process whose entries come and go. V8 links each table of a `Map` to the one that replaced it, and a table that
 * has grown old is kept until everything is collected: with it every table after it, and all that was ever in them, is kept and
 * copied as if it were in use. So the entries move to a new map now and then, which costs less than a tenth of a microsecond each.
 */
export class ChurnMap<Key, Value> {
  #entries = new Map<Key, Value>();
  #added = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  set(key: Key, value: Value): void {
    this.#added += 1;
    if (this.#added > SPARE + this.#entries.size) {
      this.#entries = new Map(this.#entries);
      this.#added = 0;
    }
    this.#entries.set(key, value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  keys(): Iterable<Key> {
    return this.#entries.keys();
  }

  values(): Iterable<Value> {
    return this.#entries.values();
  }

  entries(): Iterable<[Key, Value]> {
    return this.#entries.entries();
  }
}
