/** A Restate server that drives runs, for who looks after it. */
export interface RestateCare {
  /** Without a password. */
  readonly address: string;
  /** Tells it where to call. Absent: where the settings say. Resolves with that. */
  register(endpointUrl?: string): Promise<string>;
  /** Whether it has been told of an endpoint. Throws `RESTATE_UNREACHABLE`, `RESTATE_REFUSED`. */
  isRegistered(): Promise<boolean>;
  /** Invocations that do not do what they should. A killed one may be of a run that had ended before. */
  listTroubled(selection?: TroubledSelection): Promise<readonly TroubledInvocation[]>;
  /** Has it go on with the run of an invocation that was paused or killed. */
  resume(stopped: TroubledInvocation): Promise<void>;
}

export interface TroubledSelection {
  /** Of that run. */
  readonly runId?: string;
  /** All that do not go on by themselves. Otherwise they are a hundred at most, those first. */
  readonly onlyStopped?: boolean;
}

export interface TroubledInvocation {
  readonly runId: string;
  readonly invocationId: string;
  /** A paused or killed one goes on when a person resumes it, and not by itself. */
  readonly status: "paused" | "killed" | "backing-off";
  readonly retries: number;
  readonly failure: string | undefined;
}
