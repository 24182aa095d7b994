/** A Restate server that drives runs, for who looks after it. */
export interface RestateCare {
  /** Without a password. */
  readonly address: string;
  /** Tells it where to call. Absent: where the settings say. Resolves with that. */
  register(endpointUrl?: string): Promise<string>;
  /** Whether it has been told of an endpoint. Throws `RESTATE_UNREACHABLE`, `RESTATE_REFUSED`. */
  isRegistered(): Promise<boolean>;
  /** Invocations that it has paused, or tries again and again. `runId`: of that run. */
  listTroubled(runId?: string): Promise<readonly TroubledInvocation[]>;
  /** Has it try all paused invocations again. Resolves with their number. */
  resumePaused(): Promise<number>;
}

export interface TroubledInvocation {
  readonly runId: string;
  readonly invocationId: string;
  /** A paused one goes on when somebody resumes it, and not by itself. */
  readonly status: "paused" | "backing-off";
  readonly retries: number;
  readonly failure: string | undefined;
}
