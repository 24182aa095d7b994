export interface StopSignals {
  /** Aborts at the first Ctrl-C: lay the runs down. */
  readonly stop: AbortSignal;
  /** Aborts at the second: do not wait for anything. */
  readonly force: AbortSignal;
  close(): void;
}

const INTERRUPTED = 130;

/** Listens for Ctrl-C and its kin. The third one ends the process at once. */
export function listenForStop(): StopSignals {
  const stop = new AbortController();
  const force = new AbortController();
  const signalled = () => {
    if (force.signal.aborted) process.exit(INTERRUPTED);
    if (stop.signal.aborted) force.abort();
    stop.abort();
  };
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, signalled);
  return {
    stop: stop.signal,
    force: force.signal,
    close: () => {
      for (const name of names) process.off(name, signalled);
    },
  };
}

/** Does something that Ctrl-C stops. */
export async function withStopSignals<T>(act: (signals: StopSignals) => Promise<T>): Promise<T> {
  const signals = listenForStop();
  try {
    return await act(signals);
  } finally {
    signals.close();
  }
}
