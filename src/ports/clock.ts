export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `wake` once, not before `atMs`. The returned function cancels. */
  wakeAt(atMs: number, wake: () => unknown): () => void;
}
