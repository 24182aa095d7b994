/** Work on its way from those who make it to those who do it, in the order in which it was made. */
export class WorkList<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T | undefined) => void)[] = [];
  #isClosed = false;

  push(item: T): void {
    const taker = this.#waiting.shift();
    if (taker === undefined) this.#items.push(item);
    else taker(item);
  }

  /** There is nothing more to come. */
  close(): void {
    this.#isClosed = true;
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  /** So many at once take what there is, until there is no more. */
  async each(atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
    const taker = async () => {
      for (let item = await this.#next(); item !== undefined; item = await this.#next()) await work(item);
    };
    await Promise.all(Array.from({ length: atOnce }, taker));
  }

  async #next(): Promise<T | undefined> {
    if (this.#items.length > 0) return this.#items.shift();
    return this.#isClosed ? undefined : new Promise((resolve) => this.#waiting.push(resolve));
  }
}
