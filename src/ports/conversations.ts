/** Exchanges between people and agents, by session: an agent's memory of earlier runs. */
export interface Conversations {
  /** The newest exchanges, oldest first: as many as fit both limits, and no more. */
  read(session: Session, limits: { readonly exchanges: number; readonly chars: number }): Promise<readonly Exchange[]>;
  /** Durable when it resolves. Of two with the same key the first stays: after a crash a conversation appends again. */
  append(session: Session, exchange: Exchange & { readonly key: string; readonly at: number }): Promise<void>;
  close(): Promise<void>;
}

/** Two agents never know of each other's, and no tenant of another's. */
export interface Session {
  /** Absent: the application's own. */
  readonly tenantId?: string | undefined;
  readonly agent: string;
  readonly id: string;
}

export interface Exchange {
  readonly user: string;
  readonly agent: string;
}
