/** What a process does in a pool of calls that several processes use. */
export interface PoolUse {
  /** The origin of an agent server, a provider, or `provider:model`. */
  readonly name: string;
  /** The most calls in flight of all processes together. Undefined: no limit is configured. */
  readonly max: number | undefined;
  readonly inFlight: number;
  readonly waiting: number;
}

export interface PoolShare {
  readonly name: string;
  /** How many of its calls may be in flight, until the lease is over. Without a limit it says nothing. */
  readonly places: number;
  /** The calls of other processes in flight, as they told last. */
  readonly elsewhere: number;
  /** How many other processes have calls that wait, as they told last. */
  readonly wanting: number;
}

/** Divides the places of pools among the processes that use them. All of them together never have more than there are. */
export interface PoolShares {
  /** For how long a share holds from when it was asked for, in milliseconds. */
  readonly leaseMs: number;
  /** A use without a call that waits or is in flight gives the share back. Rejects as a journal does. */
  exchange(uses: readonly PoolUse[]): Promise<readonly PoolShare[]>;
}
