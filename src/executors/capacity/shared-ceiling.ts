import type { Share } from "./share.ts";
import type { Sharer } from "./share-exchange.ts";

interface CeilingPool {
  readonly waiting: number;
  pump(): void;
}

/** A limit that several pools have in common: the models of a provider. */
export class SharedCeiling implements Sharer {
  readonly share: Share;
  readonly closedUntil = 0;
  readonly #pools = new Set<CeilingPool>();
  #inFlight = 0;

  constructor(share: Share) {
    this.share = share;
  }

  hasRoom(now: number): boolean {
    return this.share.hasRoom(this.#inFlight, now);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    let waiting = 0;
    for (const pool of this.#pools) waiting += pool.waiting;
    return waiting;
  }

  add(pool: CeilingPool): void {
    this.#pools.add(pool);
  }

  remove(pool: CeilingPool): void {
    this.#pools.delete(pool);
  }

  took(): void {
    this.#inFlight += 1;
  }

  /** Each pool hears it of its own server. */
  heard(): void {}

  pump(): void {
    for (const pool of [...this.#pools]) pool.pump();
  }

  /** The other pools go first: the one whose call has ended looks by itself. */
  gaveBack(pool: CeilingPool): void {
    this.#inFlight -= 1;
    for (const other of [...this.#pools]) if (other !== pool) other.pump();
    // The one that was asked last is asked first the next time.
    this.#pools.delete(pool);
    this.#pools.add(pool);
  }
}
