import { webcrypto } from "node:crypto";
import { readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { ifThere, toFileFailure, writeDurably } from "./durable-write.ts";

/** A folder that has become something else is a fault of the disk, and not a missing blob. */
const ABSENT = ["ENOENT"];

/** Blobs as files: `ab/cdef...`, named by their SHA-256. */
export class FileBlobs implements Blobs {
  readonly #folder: string;
  /** Equal contents at the same time are one write, and nobody is told "durable" before it is. */
  readonly #writing = new Map<string, Promise<void>>();

  constructor(folder: string) {
    this.#folder = resolve(folder);
  }

  async put(content: string | Uint8Array): Promise<string> {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    const sha256 = await sha256Of(bytes);
    const writing = this.#writing.get(sha256) ?? this.#startWriting(sha256, bytes);
    await writing;
    return sha256;
  }

  async get(sha256: string): Promise<Uint8Array> {
    const content = await this.#read(sha256);
    if ((await sha256Of(content)) === sha256) return content;
    throw new PawlError("BLOB_DAMAGED", { message: `${this.#pathOf(sha256)} does not have the hash in its name.` });
  }

  async *list(): AsyncIterable<{ sha256: string; bytes: number; modifiedAt: number }> {
    for (const folder of await namesIn(this.#folder, /^[0-9a-f]{2}$/)) {
      for (const rest of await namesIn(join(this.#folder, folder), /^[0-9a-f]{62}$/)) {
        const path = join(this.#folder, folder, rest);
        const file = await ifThere(path, () => stat(path), undefined, ABSENT);
        if (file !== undefined) yield { sha256: folder + rest, bytes: file.size, modifiedAt: Math.trunc(file.mtimeMs) };
      }
    }
  }

  async remove(
    sha256: string,
    { before = Number.POSITIVE_INFINITY }: { readonly before?: number } = {},
  ): Promise<boolean> {
    const path = this.#pathOf(sha256);
    try {
      const found = await ifThere(path, () => stat(path), undefined, ABSENT);
      if (found !== undefined && found.mtimeMs >= before) return false;
      await rm(path, { force: true });
      return true;
    } catch (error) {
      throw toFileFailure(error, path);
    }
  }

  #startWriting(sha256: string, content: Uint8Array): Promise<void> {
    const writing = this.#write(sha256, content).finally(() => this.#writing.delete(sha256));
    this.#writing.set(sha256, writing);
    return writing;
  }

  async #write(sha256: string, content: Uint8Array): Promise<void> {
    const path = this.#pathOf(sha256);
    try {
      const existing = await ifThere(path, () => stat(path), undefined, ABSENT);
      // The collection's grace period begins anew: this content is about to be referred to again.
      if (existing?.size === content.byteLength) return await utimes(path, new Date(), new Date());
      await writeDurably(path, content, join(this.#folder, "incoming"));
    } catch (error) {
      throw toFileFailure(error, path);
    }
  }

  async #read(sha256: string): Promise<Uint8Array> {
    const path = this.#pathOf(sha256);
    const content = await ifThere(path, () => readFile(path), undefined, ABSENT);
    if (content === undefined) throw new PawlError("BLOB_MISSING", { message: `${path} is missing.` });
    return content;
  }

  #pathOf(sha256: string): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`Not a SHA-256 in lower-case hex: ${sha256}`);
    return join(this.#folder, sha256.slice(0, 2), sha256.slice(2));
  }
}

/** In a thread: five milliseconds of the event loop for ten megabytes. */
async function sha256Of(content: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest("SHA-256", content)).toString("hex");
}

async function namesIn(folder: string, pattern: RegExp): Promise<readonly string[]> {
  const names = await ifThere(folder, () => readdir(folder), [], ABSENT);
  return names.filter((name) => pattern.test(name)).sort();
}
