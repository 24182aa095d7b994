/** Why a request was cut off from our side. */
export type CutOff = "stopped" | "unconnected" | "idle" | "late";

/** Ends a request when the host lays it down or the server gives no sign of life. */
export interface LifeWatch {
  /** Aborts when the request must end. */
  readonly signal: AbortSignal;
  cutOff(): CutOff | undefined;
  connected(): void;
  seen(): void;
  /** From here on the request has this long, whatever is seen. */
  endWithin(ms: number): void;
  isConnected(): boolean;
  close(): void;
}

export function watchLife(
  hostSignal: AbortSignal,
  limits: { readonly connectMs: number; readonly idleMs: number },
): LifeWatch {
  const controller = new AbortController();
  let cutOff: CutOff | undefined;
  let isConnected = false;
  let last: NodeJS.Timeout | undefined;

  const end = (cause: CutOff) => {
    cutOff ??= cause;
    controller.abort();
  };
  const stop = () => end("stopped");
  let silence = setTimeout(end, limits.connectMs, "unconnected");
  if (hostSignal.aborted) stop();
  hostSignal.addEventListener("abort", stop, { once: true });

  return {
    signal: controller.signal,
    cutOff: () => cutOff,
    isConnected: () => isConnected,
    connected() {
      isConnected = true;
      clearTimeout(silence);
      silence = setTimeout(end, limits.idleMs, "idle");
    },
    seen: () => {
      silence.refresh();
    },
    endWithin(ms) {
      last ??= setTimeout(end, ms, "late");
    },
    close() {
      clearTimeout(silence);
      clearTimeout(last);
      hostSignal.removeEventListener("abort", stop);
    },
  };
}
