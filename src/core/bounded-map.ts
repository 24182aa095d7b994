/** A map of bounded size. What was set last is kept; setting a key again makes it the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    const { value: oldest, done } = this.keys().next();
    if (this.size > this.#max && done !== true) this.delete(oldest);
    return this;
  }
}
