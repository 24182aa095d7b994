import type { Clock } from "../../ports/clock.ts";
import type { PoolShares } from "../../ports/pool-shares.ts";
import type { Limit } from "./limit.ts";

interface ExchangeParts {
  readonly clock: Clock;
  limits(): Iterable<Limit>;
  shares(): Promise<PoolShares>;
  failed(error: unknown): void;
}

const EVERY_MS = 250;
const LEAST_GAP_MS = 25;

/** Exchanges calls in flight and shares with the other processes, four times a second. If that fails, the share is used until its lease ends. */
export class ShareExchange {
  readonly #parts: ExchangeParts;
  /** Of these something is known elsewhere. */
  readonly #told = new Set<Limit>();
  #stopTimer: (() => void) | undefined;
  #lookAt = Number.POSITIVE_INFINITY;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isUnderWay = false;
  #isClosed = false;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** Something changed: a call waits for its place, or is the first one. */
  soon(): void {
    this.#lookBy(this.#lastAt + LEAST_GAP_MS);
  }

  /** There are calls. */
  keep(): void {
    this.#lookBy(this.#lastAt + EVERY_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer?.();
  }

  #lookBy(at: number): void {
    if (this.#isClosed || this.#isUnderWay || at >= this.#lookAt) return;
    this.#stopTimer?.();
    const { clock } = this.#parts;
    this.#lookAt = Math.max(at, clock.now());
    this.#stopTimer = clock.wakeAt(this.#lookAt, () => {
      this.#lookAt = Number.POSITIVE_INFINITY;
      void this.#look();
    });
  }

  async #look(): Promise<void> {
    const { clock, limits, failed } = this.#parts;
    const asked = clock.now();
    this.#isUnderWay = true;
    const active = [...limits()].filter((limit) => limit.isUsed || this.#told.has(limit));
    try {
      if (active.length > 0) await this.#exchange(active, asked);
    } catch (error) {
      failed(error);
    } finally {
      this.#isUnderWay = false;
      this.#lastAt = clock.now();
    }
    const used = [...limits()].filter(({ isUsed }) => isUsed);
    for (const limit of used) limit.pump();
    if (used.length > 0 || this.#told.size > 0) this.keep();
  }

  async #exchange(active: readonly Limit[], asked: number): Promise<void> {
    const { exchange, leaseMs } = await this.#parts.shares();
    const byName = new Map(active.map((limit) => [limit.name, limit]));
    for (const limit of active) this.#told.add(limit);
    for (const share of await exchange(active.map((limit) => limit.tell()))) {
      const limit = byName.get(share.name);
      if (limit === undefined) continue;
      limit.set(share, asked + leaseMs);
      if (limit.isGivenBack) this.#told.delete(limit);
    }
  }
}
