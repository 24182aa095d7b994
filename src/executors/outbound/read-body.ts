import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { OutboundRequest } from "../../ports/outbound.ts";

/** Unpacks as it reads and stops at `maxBytes`: a few packed bytes may be as many as they like when unpacked. */
export async function readBody(
  answer: IncomingMessage,
  { maxBytes, needsNoBody = false }: Pick<OutboundRequest, "maxBytes" | "needsNoBody">,
  signal: AbortSignal,
): Promise<{ readonly body: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  let unpacked: Readable | undefined;
  const stop = () => answer.destroy(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    unpacked = unpack(answer);
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      const room = maxBytes - size;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      size += chunk.length;
      if (size > maxBytes) return { body: Buffer.concat(chunks), isCut: true };
    }
    return { body: Buffer.concat(chunks), isCut: false };
  } catch (error) {
    if (!needsNoBody) throw error;
    return { body: Buffer.concat(chunks), isCut: true };
  } finally {
    signal.removeEventListener("abort", stop);
    unpacked?.destroy();
    answer.destroy();
  }
}

function unpack(answer: IncomingMessage): Readable {
  const unpacker = unpackerOf(answer.headers["content-encoding"] ?? "identity");
  if (unpacker === undefined) return answer;
  answer.on("error", (error) => unpacker.destroy(error));
  return answer.pipe(unpacker);
}

function unpackerOf(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    case "identity":
    case "":
      return undefined;
    default:
      throw new Error(`the answer is packed as ${encoding.slice(0, 40)}`);
  }
}
