import type { PoolShare, PoolUse } from "../../ports/pool-shares.ts";

export interface LimitedPool {
  readonly name: string;
  readonly waiting: number;
  /** Of its own limit: the calls of other processes in flight, and how many of these processes have calls that wait. */
  heard(others: Pick<PoolShare, "elsewhere" | "wanting">): void;
  /** There may be room. */
  pump(): void;
}

/** The most calls in flight of one pool, or of all models of a provider. Processes that share a database use leased parts of it. */
export class Limit {
  readonly name: string;
  /** Infinity: none is configured. */
  readonly max: number;
  readonly #pools = new Set<LimitedPool>();
  #inFlight = 0;
  #places: number;
  /** The calls in flight here, and those that wait, as others know them. */
  #told = 0;
  /** Others may have the places from then on. */
  #until = Number.POSITIVE_INFINITY;

  constructor(name: string, max: number, isAlone: boolean) {
    // Definitions name models. What no database takes as a text would keep all pools from being shared.
    this.name = name.toWellFormed();
    this.max = max;
    this.#places = isAlone ? max : 0;
  }

  add(pool: LimitedPool): void {
    this.#pools.add(pool);
  }

  remove(pool: LimitedPool): void {
    this.#pools.delete(pool);
  }

  hasRoom(now: number): boolean {
    return this.max === Number.POSITIVE_INFINITY || (this.#inFlight < this.#places && now < this.#until);
  }

  took(): void {
    this.#inFlight += 1;
  }

  /** The other pools go first: the one whose call has ended looks by itself. */
  gaveBack(pool: LimitedPool): void {
    this.#inFlight -= 1;
    for (const other of [...this.#pools]) if (other !== pool) other.pump();
    // The one that was asked last is asked first the next time.
    this.#pools.delete(pool);
    this.#pools.add(pool);
  }

  pump(): void {
    for (const pool of [...this.#pools]) pool.pump();
  }

  get isUsed(): boolean {
    return this.#wanted > 0;
  }

  /** Other processes know how many places are wanted here. */
  get isTold(): boolean {
    return Math.min(this.#wanted, this.max) <= this.#told;
  }

  /** Others know that nothing is used here. */
  get isGivenBack(): boolean {
    return this.#told === 0;
  }

  /** What others are told now. What is beyond the calls in flight may go to them from here on. */
  tell(): PoolUse {
    this.#told = this.#wanted;
    this.#places = Math.min(this.#places, this.#inFlight);
    const max = this.max === Number.POSITIVE_INFINITY ? undefined : this.max;
    return { name: this.name, max, inFlight: this.#inFlight, waiting: this.#wanted - this.#inFlight };
  }

  set(share: PoolShare, until: number): void {
    this.#places = share.places;
    this.#until = until;
    // Models of one provider have a server each.
    for (const pool of this.#pools) if (pool.name === this.name) pool.heard(share);
  }

  get #wanted(): number {
    let wanted = this.#inFlight;
    for (const { waiting } of this.#pools) wanted += waiting;
    return wanted;
  }
}
