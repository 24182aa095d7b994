import { setTimeout as delay } from "node:timers/promises";

/** A server's places: it works on so many requests at once, and refuses the others. */
export class Places {
  readonly #count: number;
  readonly #holdMs: number;
  readonly #inUse: string[] = [];
  /** Of each request that got a place, in this order. */
  readonly taken: { readonly by: string; readonly atMs: number; readonly beside: readonly string[] }[] = [];
  refused = 0;
  most = 0;

  constructor(count: number, holdMs: number) {
    this.#count = count;
    this.#holdMs = holdMs;
  }

  take(by: string): boolean {
    if (this.#inUse.length >= this.#count) {
      this.refused += 1;
      return false;
    }
    this.#inUse.push(by);
    this.most = Math.max(this.most, this.#inUse.length);
    this.taken.push({ by, atMs: performance.now(), beside: [...this.#inUse] });
    return true;
  }

  /** Works, and frees the place. */
  async hold(by: string, onBegin: () => void = () => undefined): Promise<void> {
    onBegin();
    await delay(this.#holdMs);
    this.#inUse.splice(this.#inUse.indexOf(by), 1);
  }

  get share(): number {
    return this.refused / (this.refused + this.taken.length);
  }
}
