import { hash } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { S3Bucket } from "./s3-bucket.ts";
import { FreshKeys, lookAgain } from "./second-looks.ts";

const FOLDER = "blobs/";
const OWNERS = "owners/";
/** Half of the hour that `pawl gc` leaves a blob alone: what is not sent again has the other half to be referred to. */
const REMEMBERED_MS = 1_800_000;

/** Blobs as objects `blobs/HASH`. Each is checked against its hash when it is read. */
export class S3Blobs implements Blobs {
  readonly #bucket: S3Bucket;
  readonly #ownerId: () => Promise<string>;
  /** Equal contents at the same time are one object, and nobody is told "durable" before it is. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #written = new FreshKeys(REMEMBERED_MS);
  #announced: Promise<void> | undefined;

  /** `ownerId` names the data that refers to these blobs, the same in each process that works on it. */
  constructor(bucket: S3Bucket, ownerId: () => Promise<string>) {
    this.#bucket = bucket;
    this.#ownerId = ownerId;
  }

  async put(content: string | Uint8Array): Promise<string> {
    const sha256 = hash("sha256", content);
    if (!this.#written.has(sha256)) await (this.#writing.get(sha256) ?? this.#startWriting(sha256, content));
    return sha256;
  }

  async get(sha256: string): Promise<Uint8Array> {
    const key = keyOf(sha256);
    // Whoever asks has read a reference, which is written after the blob.
    const content = (await lookAgain(() => this.#bucket.get(key)))?.content;
    const where = `${key} in the bucket "${this.#bucket.options.bucket}"`;
    const remedy = "Restore the object from a version or a copy of the bucket.";
    if (content === undefined) throw new PawlError("BLOB_MISSING", { message: `${where} is missing.`, remedy });
    if (hash("sha256", content) === sha256) return content;
    throw new PawlError("BLOB_DAMAGED", { message: `${where} does not have the hash in its name.`, remedy });
  }

  async *list(): AsyncGenerator<{ sha256: string; bytes: number; modifiedAt: number }> {
    const aheadMs = this.#aheadMs();
    for await (const { key, bytes, modifiedAt } of this.#bucket.list(FOLDER)) {
      const sha256 = key.slice(FOLDER.length);
      if (isHash(sha256)) yield { sha256, bytes, modifiedAt: modifiedAt - aheadMs };
    }
  }

  async remove(sha256: string, { before }: { readonly before?: number } = {}): Promise<boolean> {
    const key = keyOf(sha256);
    if (before !== undefined) {
      const found = await this.#bucket.head(key);
      if (found !== undefined && found.modifiedAt - this.#aheadMs() >= before) return false;
    }
    this.#written.delete(sha256);
    await this.#bucket.remove(key);
    return true;
  }

  /** Throws `STORAGE_SHARED` where other data has put blobs here: nobody knows here what that refers to. */
  async refuseOthers(): Promise<void> {
    const mine = await this.#ownerId();
    for await (const { key } of this.#bucket.list(OWNERS)) {
      if (key === OWNERS + mine) continue;
      const { bucket, prefix } = this.#bucket.options;
      const message = `Other data than this uses the bucket "${bucket}" too: see its object "${prefix}${key}".`;
      const remedy = "Give each data folder a `storage.prefix` of its own. If that data is gone, remove the object.";
      throw new PawlError("STORAGE_SHARED", { message, remedy });
    }
  }

  /** Times of the store less this are in the time of this machine, which they are compared with. */
  #aheadMs(): number {
    return this.#bucket.now() - Date.now();
  }

  #startWriting(sha256: string, content: string | Uint8Array): Promise<void> {
    const writing = this.#write(sha256, content).finally(() => this.#writing.delete(sha256));
    this.#writing.set(sha256, writing);
    return writing;
  }

  async #write(sha256: string, content: string | Uint8Array): Promise<void> {
    this.#announced ??= this.#announce();
    await this.#announced;
    await this.#bucket.put(keyOf(sha256), content);
    this.#written.add(sha256);
  }

  /** Before the first blob, so that others who use the bucket delete none of them. */
  async #announce(): Promise<void> {
    try {
      await this.#bucket.put(OWNERS + (await this.#ownerId()), "");
    } catch (error) {
      this.#announced = undefined;
      throw error;
    }
  }
}

function keyOf(sha256: string): string {
  if (!isHash(sha256)) throw new Error(`Not a SHA-256 in lower-case hex: ${sha256}`);
  return FOLDER + sha256;
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
