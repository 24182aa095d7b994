import type { Grant } from "../../core/trust/grant.ts";

/** Keys of the service. Secrets are not stored, only hashes that can verify them. */
export interface ApiKeys {
  /** Durable when it resolves. */
  add(key: StoredKey): Promise<void>;
  find(id: string): Promise<StoredKey | undefined>;
  /** Oldest first, those that are revoked or expired included. */
  list(options: { readonly tenantId?: string }): Promise<readonly StoredKey[]>;
  /** False: there is none, or it is revoked already. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Whether there is any that has not been revoked: then every request must bear one. */
  areThere(): Promise<boolean>;
}

export type KeyScope = "read" | "run" | "write" | "admin";

export interface StoredKey {
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the secret, in hex. The secret has 256 random bits, so that a slow hash would add nothing. */
  readonly secretHash: string;
  readonly scopes: readonly KeyScope[];
  /** Approvals may name them. */
  readonly groups?: readonly string[];
  /** Absent: it sees the runs of all tenants. */
  readonly tenantId?: string;
  /** The most that one of its runs may cost, in integer micro-dollars. */
  readonly maxCostMicro?: number;
  /** What texts may reach that come with it. Absent: it was made before there were grants. */
  readonly grant?: Grant;
  /** What a request with it says of who asks and what holds for them is believed. */
  readonly tellsContext?: true;
  /** Milliseconds since the epoch, as all times here. */
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}
