import type { CapacityView, CapacityWait, PoolState } from "../../ports/capacity.ts";
import type { Clock } from "../../ports/clock.ts";
import type { PoolShares } from "../../ports/pool-shares.ts";
import { CapacityPool } from "./capacity-pool.ts";
import { Limit } from "./limit.ts";
import { ShareExchange } from "./share-exchange.ts";

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
  /** From 0 to 1. Spreads calls that were refused together. */
  random?(): number;
}

/** Definitions may name servers: those that are no longer used are forgotten beyond so many. */
const MAX_POOLS = 1_000;

/** The pools of this process, for all of its runs. Processes that share a database share the places of each pool. */
export class CapacityPools implements CapacityView {
  readonly #options: CapacityOptions;
  readonly #max: ReadonlyMap<string, number>;
  readonly #pools = new Map<string, CapacityPool>();
  readonly #providers = new Map<string, Limit>();
  readonly #exchange: ShareExchange | undefined;

  constructor(options: CapacityOptions) {
    this.#options = options;
    this.#max = new Map(Object.entries(options.limits).map(([name, max]) => [toPoolName(name), max]));
    const { clock, others } = options;
    const limits = () => [...[...this.#pools.values()].map(({ limit }) => limit), ...this.#providers.values()];
    if (others !== undefined) this.#exchange = new ShareExchange({ ...others, clock, limits });
  }

  ofServer(url: URL): CapacityPool {
    return this.#pool(url.origin, undefined);
  }

  /** The models of a provider have a pool each, and the configured limit of the provider together. */
  ofModel(provider: string, modelId: string): CapacityPool {
    if (this.#max.has(provider) && !this.#providers.has(provider)) this.#providers.set(provider, this.#limit(provider));
    return this.#pool(`${provider}:${modelId}`, this.#providers.get(provider));
  }

  #pool(name: string, ofProvider: Limit | undefined): CapacityPool {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    if (this.#pools.size >= MAX_POOLS) this.#forgetIdle();
    const { clock, patienceMs, random = Math.random } = this.#options;
    const exchange = this.#exchange;
    const pool = new CapacityPool({ limit: this.#limit(name), ofProvider, clock, patienceMs, exchange, random });
    this.#pools.set(name, pool);
    return pool;
  }

  #limit(name: string): Limit {
    return new Limit(name, this.#max.get(name) ?? Number.POSITIVE_INFINITY, this.#options.others === undefined);
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
