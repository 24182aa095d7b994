/** Logins to MCP servers (OAuth 2.1), sealed: a row says whose it is and what it is for, and nothing of what it holds. */
export interface ServerLogins {
  find(of: LoginKey): Promise<StoredLogin | undefined>;
  /** Puts a login in the place of `version`, or of whatever there is. False: it is another one by now, and stays. */
  save(of: LoginKey, sealed: string, version?: number): Promise<boolean>;
  /**
   * The right to renew `version`, until a save, a release, or `forMs` later: a token that renews is good for one use, so that two
   * processes may not use it at once. False: somebody else has it, or it is another login by now.
   */
  claim(of: LoginKey, version: number, time: { readonly now: number; readonly forMs: number }): Promise<boolean>;
  release(of: LoginKey, version: number): Promise<void>;
  /** False: there was none. */
  remove(of: LoginKey): Promise<boolean>;
}

/** A login is good for one address, so that no other entry with the name of this one is given it. */
export interface LoginKey {
  /** Absent: the application's own. */
  readonly tenantId?: string | undefined;
  readonly server: string;
  /** The hash of its URL. */
  readonly address: string;
}

export interface StoredLogin {
  readonly sealed: string;
  readonly version: number;
}
