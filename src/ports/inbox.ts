import type { RunNo } from "./journal.ts";

/** Requests to runs that another process drives. A request is answered once, by the process that drives its run then. */
export interface Inbox {
  /** Durable when it resolves. `body` is sealed: it may hold what a person has typed. */
  send(run: RunNo, body: string): Promise<number>;
  /** Requests to runs of this process that are not answered, oldest first. */
  list(): Promise<readonly SentRequest[]>;
  /** Undefined: nothing came of it. */
  answer(id: number, refusal: SentRefusal | undefined): Promise<void>;
  /** Undefined: it is not answered. */
  readAnswer(id: number): Promise<{ readonly refusal: SentRefusal | undefined } | undefined>;
  /** Takes a request back, or its answer away. False: it has been answered, and the answer is still there. */
  withdraw(id: number): Promise<boolean>;
  forget(id: number): Promise<void>;
  /** Wakes the other processes: there may be a run that no process drives. */
  tell(): Promise<void>;
  /** Calls back when there may be a request, an answer, or a run that no process drives. */
  watch(changed: () => void): () => void;
}

export interface SentRequest {
  readonly id: number;
  readonly runId: string;
  readonly body: string;
}

/** An error as it crosses processes. */
export interface SentRefusal {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly details?: unknown;
}
