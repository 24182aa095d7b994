export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once, not before `atMs`. The returned function cancels. */
  wakeAt(atMs: number, wake: () => unknown): () => void;
}

export interface TestClock extends Clock {
  /** The earliest time at which something wakes. */
  readonly nextAlarm: number | undefined;
  /** It is that time now, if it is not later already, and what is due rings in its order. Resolves when that has begun its work. */
  moveTo(atMs: number): Promise<void>;
}
