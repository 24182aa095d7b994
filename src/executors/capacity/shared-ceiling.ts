/** A limit that several pools have in common: the models of a provider. */
export class SharedCeiling {
  readonly #max: number;
  readonly #pools = new Set<{ pump(): void }>();
  #inFlight = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.#max;
  }

  add(pool: { pump(): void }): void {
    this.#pools.add(pool);
  }

  remove(pool: { pump(): void }): void {
    this.#pools.delete(pool);
  }

  took(): void {
    this.#inFlight += 1;
  }

  /** The other pools go first: the one whose call has ended looks by itself. */
  gaveBack(pool: { pump(): void }): void {
    this.#inFlight -= 1;
    for (const other of [...this.#pools]) if (other !== pool) other.pump();
    // The one that was asked last is asked first the next time.
    this.#pools.delete(pool);
    this.#pools.add(pool);
  }
}
