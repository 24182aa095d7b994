import { createHash } from "node:crypto";
import { PawlError } from "../../../src/core/errors/pawl-error.ts";
import type { Blobs } from "../../../src/ports/blobs.ts";

/** The reference implementation of `Blobs`. */
export class MemoryBlobs implements Blobs {
  readonly #blobs = new Map<string, { readonly content: Uint8Array; readonly modifiedAt: number }>();

  async put(content: string | Uint8Array): Promise<string> {
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#blobs.set(sha256, { content: Uint8Array.from(Buffer.from(content)), modifiedAt: Date.now() });
    return sha256;
  }

  async get(sha256: string): Promise<Uint8Array> {
    const blob = this.#blobs.get(sha256);
    if (blob === undefined) throw new PawlError("BLOB_MISSING", { message: `The stored value ${sha256} is missing.` });
    return blob.content.slice();
  }

  async *list(): AsyncIterable<{ sha256: string; bytes: number; modifiedAt: number }> {
    for (const [sha256, { content, modifiedAt }] of this.#blobs)
      yield { sha256, bytes: content.byteLength, modifiedAt };
  }

  async remove(
    sha256: string,
    { before = Number.POSITIVE_INFINITY }: { readonly before?: number } = {},
  ): Promise<boolean> {
    if ((this.#blobs.get(sha256)?.modifiedAt ?? 0) >= before) return false;
    this.#blobs.delete(sha256);
    return true;
  }
}
