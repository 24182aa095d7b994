/** Idempotency keys that clients send with requests, each with its run. */
export interface IdempotencyKeys {
  /**
   * Gives the key to the run, unless another run got it within the last 24 hours: then returns that one. Durable when it
   * resolves, which is before the run exists: after a crash the run is started under the same id.
   */
  claim(claim: KeyClaim): Promise<ClaimedKey>;
  /** The request and the run of a key that was used within the last 24 hours. */
  find(owner: Pick<KeyClaim, "tenantId" | "key" | "at">): Promise<GivenKey | undefined>;
}

export interface KeyClaim {
  /** Equal keys of two tenants are different keys. */
  readonly tenantId?: string;
  readonly key: string;
  /** The hash of the request. The same key with another request is a mistake. */
  readonly requestHash: string;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface GivenKey {
  readonly runId: string;
  readonly requestHash: string;
}

interface ClaimedKey extends GivenKey {
  readonly isNew: boolean;
}
