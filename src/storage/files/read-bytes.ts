import { open } from "node:fs/promises";
import type { ByteRange } from "../../ports/file-storage.ts";

/** A part of a file, shorter where the file ends. */
export async function readBytes(path: string, { from, to }: ByteRange): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const content = Buffer.allocUnsafe(Math.max(0, Math.min(to, size) - from));
    let at = 0;
    while (at < content.byteLength) {
      const { bytesRead } = await file.read(content, at, content.byteLength - at, from + at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return content.subarray(0, at);
  } finally {
    await file.close();
  }
}
