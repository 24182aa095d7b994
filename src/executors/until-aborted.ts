/** Waits no longer than the signal, if there is one, and rejects with its reason. What is waited for goes on. */
export async function untilAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal | undefined,
  toReason: () => unknown = () => signal?.reason,
): Promise<Value> {
  if (signal === undefined) return work;
  // A late failure has no listener.
  work.catch(() => undefined);
  if (signal.aborted) throw toReason();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(toReason());
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
