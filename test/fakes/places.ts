import { setTimeout as delay } from "node:timers/promises";

/** A server's places: it works on so many requests at once, and refuses the others. */
export class Places {
  readonly #count: number;
  readonly #holdMs: number;
  readonly #inUse: string[] = [];
  /** Of each request that got a place, in this order. */
  readonly taken: { readonly by: string; readonly atMs: number }[] = [];
  readonly refusedAt: number[] = [];
  most = 0;
  /** All places together, as measured. */
  heldMs = 0;

  constructor(count: number, holdMs: number) {
    this.#count = count;
    this.#holdMs = holdMs;
  }

  take(by: string): boolean {
    if (this.#inUse.length >= this.#count) {
      this.refusedAt.push(performance.now());
      return false;
    }
    this.#inUse.push(by);
    this.most = Math.max(this.most, this.#inUse.length);
    this.taken.push({ by, atMs: performance.now() });
    return true;
  }

  /** Works, and frees the place. */
  async hold(by: string): Promise<void> {
    const begin = performance.now();
    await delay(this.#holdMs);
    this.heldMs += performance.now() - begin;
    this.#inUse.splice(this.#inUse.indexOf(by), 1);
  }

  get refused(): number {
    return this.refusedAt.length;
  }

  /** Of all requests. */
  get refusedShare(): number {
    return this.refused / (this.refused + this.taken.length);
  }

  /** How long it would have taken with every place in use all the time. */
  get idealMs(): number {
    return this.heldMs / this.#count;
  }
}
