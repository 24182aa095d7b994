/** Why a request was cut off from our side. */
export type CutOff = "stopped" | "unconnected" | "idle" | "late";

/** Ends a request when the host stops it or the server gives no sign of life. */
export interface RequestTimeouts {
  /** Aborts when the request must end. */
  readonly signal: AbortSignal;
  cutOff(): CutOff | undefined;
  connected(): void;
  refresh(): void;
  /** Ends the request after this time, also when more bytes arrive. */
  endWithin(ms: number): void;
  isConnected(): boolean;
  close(): void;
}

export function startTimeouts(
  hostSignal: AbortSignal,
  limits: { readonly connectMs: number; readonly idleMs: number },
): RequestTimeouts {
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
    refresh: () => {
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

/** Reads the beginning of a body. What breaks off or goes on for ever still gives its beginning. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.byteLength;
      if (bytes >= maxBytes) break;
    }
  } catch {
    // The status line has already said what matters.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}
