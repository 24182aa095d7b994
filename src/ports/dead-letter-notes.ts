/** What people have done about steps that failed for good. The failures themselves stand in the journal and stay. */
export interface DeadLetterNotes {
  /** Durable when it resolves. False: somebody was first. */
  close(note: DeadLetterNote): Promise<boolean>;
  /** The run of a retry has begun: from now on the note holds whatever becomes of that run. */
  confirm(run: string, path: string): Promise<void>;
  /** Takes back a retry that is pending as this run. */
  reopen(run: string, path: string, newRun: string): Promise<void>;
  find(run: string, path: string): Promise<DeadLetterNote | undefined>;
  /** The run is gone. */
  forget(run: string): Promise<void>;
}

export interface DeadLetterNote {
  readonly run: string;
  readonly path: string;
  readonly status: "retried" | "resolved";
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly note?: string;
  /** Of a retry. */
  readonly newRun?: string;
  /** Of a retry: written before its run begins, so that the note counts only if there is such a run. */
  readonly isPending?: true;
}
