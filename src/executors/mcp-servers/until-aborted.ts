import { stoppedFailure } from "./mcp-failure.ts";

/** Waits no longer than the caller; what is waited for goes on for others. Throws `INTERRUPTED` without an effect. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  // Whoever waits no longer does not hear of its failure.
  promise.catch(() => undefined);
  if (signal.aborted) throw stoppedFailure();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(stoppedFailure());
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
