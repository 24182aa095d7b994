/** Which run belongs to a key that a client has sent with its request. */
export interface IdempotencyKeys {
  /**
   * Gives the key to the run, unless it has been given within the last 24 hours: then what it was given for. Durable when it
   * resolves, before the run exists: after a crash the run is started under the same id.
   */
  claim(claim: KeyClaim): Promise<ClaimedKey>;
  /** What the key was given for, within the last 24 hours. */
  find(owner: Pick<KeyClaim, "tenantId" | "key" | "at">): Promise<GivenKey | undefined>;
}

export interface KeyClaim {
  /** Keys of two tenants have nothing to do with each other. */
  readonly tenantId?: string;
  readonly key: string;
  /** Of the request: the same key with another one is a mistake. */
  readonly requestHash: string;
  readonly runId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface GivenKey {
  readonly runId: string;
  readonly requestHash: string;
}

export interface ClaimedKey extends GivenKey {
  readonly isNew: boolean;
}
