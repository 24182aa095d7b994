import type { Clock } from "../../ports/clock.ts";
import type { PoolShare, PoolShares, PoolUse } from "../../ports/pool-shares.ts";
import type { Share } from "./share.ts";

/** A pool, or a limit that several have in common. */
export interface Sharer {
  readonly share: Share;
  readonly inFlight: number;
  readonly waiting: number;
  readonly closedUntil: number;
  /** How many calls the server is known to take at once. Undefined: it may take more. */
  readonly known?: number | undefined;
  readonly perSecond?: number | undefined;
  /** What other processes know of the server. */
  heard(share: PoolShare): void;
  /** Its share may have grown. */
  pump(): void;
}

interface ExchangeParts {
  readonly clock: Clock;
  sharers(): Iterable<Sharer>;
  shares(): Promise<PoolShares>;
  failed(error: unknown): void;
}

const EVERY_MS = 250;
const LEAST_GAP_MS = 25;

/**
 * Tells the other processes, four times a second while there are calls, what is in flight here, and learns what may be. A process whose
 * exchanges fail uses its share until its lease is over, and nothing afterwards: others may have it by then.
 */
export class ShareExchange {
  readonly #parts: ExchangeParts;
  /** Of these something is known elsewhere. */
  readonly #told = new Set<Share>();
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
    const { clock, sharers, failed } = this.#parts;
    const asked = clock.now();
    this.#isUnderWay = true;
    const active = [...sharers()].filter((sharer) => isUsed(sharer) || this.#told.has(sharer.share));
    try {
      if (active.length > 0) await this.#exchange(active, asked);
    } catch (error) {
      failed(error);
    } finally {
      this.#isUnderWay = false;
      this.#lastAt = clock.now();
    }
    const used = [...sharers()].filter(isUsed);
    for (const sharer of used) sharer.pump();
    if (used.length > 0 || this.#told.size > 0) this.keep();
  }

  async #exchange(active: readonly Sharer[], asked: number): Promise<void> {
    const shares = await this.#parts.shares();
    const uses = active.map(toUse);
    for (const { share, inFlight, waiting } of active) {
      this.#told.add(share);
      share.tell(inFlight, waiting);
    }
    const given = await shares.exchange(uses);
    const byName = new Map(given.map((share) => [share.name, share]));
    for (const sharer of active) {
      const { share } = sharer;
      const mine = byName.get(share.name);
      if (mine === undefined) continue;
      share.set(mine, asked + shares.leaseMs);
      sharer.heard(mine);
      if (share.isGivenBack) this.#told.delete(share);
    }
  }
}

/** Other processes know how many places are wanted here. */
export function isTold({ share, inFlight, waiting }: Sharer): boolean {
  return share.knows(inFlight + waiting);
}

function isUsed({ inFlight, waiting }: Sharer): boolean {
  return inFlight > 0 || waiting > 0;
}

function toUse({ share, inFlight, waiting, closedUntil, known, perSecond }: Sharer): PoolUse {
  const { name, max } = share;
  return { name, max: Number.isFinite(max) ? max : known, inFlight, waiting, perSecond, closedUntil };
}
