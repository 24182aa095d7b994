/** Notes about dead letters that people have retried or resolved. The failures themselves stay in the journal. */
export interface DeadLetterNotes {
  /** Durable when it resolves. False if another was first. */
  close(note: DeadLetterNote): Promise<boolean>;
  /** The run of a retry has begun. From now on the note counts, however that run ends. */
  confirm(run: string, path: string): Promise<void>;
  /** Takes back the retry with this run. */
  reopen(run: string, path: string, newRun: string): Promise<void>;
  find(run: string, path: string): Promise<DeadLetterNote | undefined>;
  /** Removes the notes of a run that was deleted. */
  forget(run: string): Promise<void>;
}

export interface DeadLetterNote {
  readonly run: string;
  readonly path: string;
  readonly status: "retried" | "resolved";
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly note?: string;
  /** The run of a retry. */
  readonly newRun?: string;
  /** A retry is noted before its run begins, and counts only if there is such a run. */
  readonly isPending?: true;
}
