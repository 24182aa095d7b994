import { createCipheriv, createDecipheriv } from "node:crypto";
import type { LogPosition } from "../../ports/journal.ts";

const COMMIT_BYTES = 6;
const INDEX_BYTES = 4;
const AT_BYTES = 6;

/**
 * A place in the order of all runs, as followers are told it: one encrypted block, so that the numbers of a tenant's
 * events tell nothing of the events of others. Equal places have equal names.
 */
export class LogCursor {
  readonly #key: Uint8Array;

  /** `key`: 32 bytes. */
  constructor(key: Uint8Array) {
    this.#key = key;
  }

  write({ commit, index, at }: LogPosition): string {
    const block = Buffer.alloc(COMMIT_BYTES + INDEX_BYTES + AT_BYTES);
    block.writeUIntBE(commit, 0, COMMIT_BYTES);
    block.writeUInt32BE(index, COMMIT_BYTES);
    block.writeUIntBE(at, COMMIT_BYTES + INDEX_BYTES, AT_BYTES);
    const cipher = createCipheriv("aes-256-ecb", this.#key, null).setAutoPadding(false);
    return Buffer.concat([cipher.update(block), cipher.final()]).toString("base64url");
  }

  /** Any other text becomes a place that does not exist, or undefined if it cannot be a place. */
  read(text: string): LogPosition | undefined {
    const sealed = Buffer.from(text, "base64url");
    if (sealed.length !== COMMIT_BYTES + INDEX_BYTES + AT_BYTES) return undefined;
    const decipher = createDecipheriv("aes-256-ecb", this.#key, null).setAutoPadding(false);
    const block = Buffer.concat([decipher.update(sealed), decipher.final()]);
    return {
      commit: block.readUIntBE(0, COMMIT_BYTES),
      index: block.readUInt32BE(COMMIT_BYTES),
      at: block.readUIntBE(COMMIT_BYTES + INDEX_BYTES, AT_BYTES),
    };
  }
}
