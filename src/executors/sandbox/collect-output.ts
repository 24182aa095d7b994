import type { Readable } from "node:stream";

export interface Collected {
  bytes(): Buffer;
}

/** Keeps what a stream brings, up to `maxBytes`; then calls `exceeded` and reads no further. */
export function collectOutput(
  stream: Readable,
  options: { readonly maxBytes: number; exceeded(): void; onChunk?(chunk: Buffer): void },
): Collected {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("error", () => undefined);
  stream.on("data", (chunk: Buffer) => {
    if (size > options.maxBytes) return;
    const room = options.maxBytes - size;
    size += chunk.length;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    chunks.push(kept);
    options.onChunk?.(kept);
    if (size <= options.maxBytes) return;
    stream.pause();
    options.exceeded();
  });
  return { bytes: () => Buffer.concat(chunks) };
}
