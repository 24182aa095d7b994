import type { CapacityView, CapacityWait, PoolState } from "../../ports/capacity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PoolShares } from "../../ports/pool-shares.ts";
import { CapacityPool } from "./capacity-pool.ts";
import { Share } from "./share.ts";
import { ShareExchange } from "./share-exchange.ts";
import { SharedCeiling } from "./shared-ceiling.ts";

export interface CapacityOptions {
  readonly clock: Clock;
  /** The most calls in flight, by the origin of an agent server, a provider, or `provider:model`. */
  readonly limits: Readonly<Record<string, number>>;
  /** Calls fail when their server has taken nothing for so long. */
  readonly patienceMs: number;
  /** Absent: no other process uses the same servers. */
  readonly others?: {
    shares(): Promise<PoolShares>;
    failed(error: unknown): void;
  };
}

/** Definitions may name servers: those that nobody uses any more are forgotten beyond so many. */
const MAX_POOLS = 1_000;

/** The pools of this process, for all of its runs. Processes that share a database share the places of each pool. */
export class CapacityPools implements CapacityView {
  readonly #options: CapacityOptions;
  readonly #limits: ReadonlyMap<string, number>;
  readonly #pools = new Map<string, CapacityPool>();
  readonly #ceilings = new Map<string, SharedCeiling>();
  readonly #exchange: ShareExchange | undefined;

  constructor(options: CapacityOptions) {
    this.#options = options;
    this.#limits = new Map(Object.entries(options.limits).map(([name, max]) => [toPoolName(name), max]));
    const { clock, others } = options;
    const sharers = () => [...this.#pools.values(), ...this.#ceilings.values()];
    if (others !== undefined) this.#exchange = new ShareExchange({ ...others, clock, sharers });
  }

  ofServer(url: URL): CapacityPool {
    return this.#pool(url.origin, undefined);
  }

  /** The models of a provider have a pool each, and the configured limit of the provider together. */
  ofModel(provider: string, modelId: string): CapacityPool {
    const max = this.#limits.get(provider);
    return this.#pool(`${provider}:${modelId}`, max === undefined ? undefined : this.#ceiling(provider, max));
  }

  #pool(name: string, ceiling: SharedCeiling | undefined): CapacityPool {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    if (this.#pools.size >= MAX_POOLS) this.#forgetIdle();
    const { clock, patienceMs } = this.#options;
    const share = this.#share(name, this.#limits.get(name) ?? Number.POSITIVE_INFINITY);
    const pool = new CapacityPool({ name, clock, patienceMs, share, exchange: this.#exchange, ceiling });
    this.#pools.set(name, pool);
    return pool;
  }

  #ceiling(provider: string, max: number): SharedCeiling {
    const ceiling = this.#ceilings.get(provider) ?? new SharedCeiling(this.#share(provider, max));
    this.#ceilings.set(provider, ceiling);
    return ceiling;
  }

  #share(name: string, max: number): Share {
    // Definitions name models. What no database takes as a text would keep all pools from being shared.
    return new Share(name.toWellFormed(), max, this.#options.others === undefined);
  }

  /** What is in use is free for others when the lease is over. */
  close(): void {
    this.#exchange?.close();
  }

  #forgetIdle(): void {
    for (const [name, pool] of this.#pools) {
      if (!pool.isIdle) continue;
      pool.close();
      this.#pools.delete(name);
    }
  }

  pools(): readonly PoolState[] {
    return [...this.#pools.values()].map(({ state }) => state);
  }

  waitsOf(runId: string): readonly CapacityWait[] {
    return [...this.#pools.values()].flatMap((pool) => pool.waitOf(runId) ?? []);
  }
}

/** Of a server the origin: the route does not matter. */
function toPoolName(name: string): string {
  return /^https?:/.test(name) ? (URL.parse(name)?.origin ?? name) : name;
}
