import type { Addition, ByteRange, FileStorage, KnownLength, ListedFile } from "../../ports/file-storage.ts";
import { changedMeanwhile, invalidStoragePath, parseStoragePath, parseStoragePrefix } from "../storage-path.ts";
import { foldParts } from "./fold-parts.ts";
import { MIN_PART_BYTES, type PutOptions, type S3Bucket, type StoredObject } from "./s3-bucket.ts";
import { FreshKeys, lookAgain } from "./second-looks.ts";

const FILES = "files/";
/** The most that a key may have. */
const MAX_KEY_BYTES = 1_024;
/** Folders of a path that are looked for at once. */
const LOOKS_AT_ONCE = 16;

/**
 * The application's files as objects `files/PATH`, which any program can read. An addition writes the object anew, if it is still the
 * one that was read: what is there from 5 MiB on is copied by the store and not sent again.
 */
export class S3FileStorage implements FileStorage {
  readonly extendsAtomically = true;
  readonly #bucket: S3Bucket;
  readonly #written = new FreshKeys();
  #folded: Promise<void> | undefined;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const key = await this.#find(path);
    return (await this.#lookFor(key, () => this.#bucket.get(key)))?.content;
  }

  async readRange(path: string, range: ByteRange): Promise<Uint8Array> {
    const key = await this.#find(path);
    if (range.from >= range.to) return new Uint8Array();
    return (await this.#bucket.get(key, range))?.content ?? new Uint8Array();
  }

  async sizeOf(path: string): Promise<number | undefined> {
    return (await this.#see(await this.#find(path)))?.bytes;
  }

  async write(path: string, content: string | Uint8Array, { length }: KnownLength = {}): Promise<void> {
    const key = await this.#find(path);
    const seen = await this.#see(key);
    if (length !== undefined && (seen?.bytes ?? 0) !== length) throw changedMeanwhile(path);
    if (seen === undefined) await this.#refuseShape(path);
    await this.#put(key, content, length === undefined ? {} : { over: seen ?? "nothing" });
  }

  async extend(path: string, { from, content, length }: Addition): Promise<void> {
    const key = await this.#find(path);
    const seen = await this.#see(key);
    const size = seen?.bytes ?? 0;
    if (length !== undefined && size !== length) throw changedMeanwhile(path);
    if (size < from) throw new Error(`${path} is shorter than ${from} bytes.`);
    if (seen === undefined) await this.#refuseShape(path);
    else if (from === size && size >= MIN_PART_BYTES) return this.#bucket.putBehind(key, seen, content);
    const kept = from === 0 ? undefined : await this.#bucket.get(key, { from: 0, to: from });
    if (kept !== undefined && kept.etag !== seen?.etag) throw changedMeanwhile(path);
    await this.#put(key, Buffer.concat([kept?.content ?? Buffer.of(), content]), { over: seen ?? "nothing" });
  }

  async list(prefix: string): Promise<readonly ListedFile[]> {
    parseStoragePrefix(prefix);
    await this.#fold();
    const files: ListedFile[] = [];
    for await (const { key, bytes, modifiedAt } of this.#bucket.list(FILES + prefix)) {
      const path = key.slice(FILES.length);
      if (isPath(path)) files.push({ path, bytes, modifiedAt });
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    const key = await this.#find(path);
    const seen = await this.#see(key);
    if (seen === undefined) return false;
    this.#written.delete(key);
    await this.#bucket.remove(key);
    return true;
  }

  /** The key of a file, when what earlier versions have added to files is in them. */
  async #find(path: string): Promise<string> {
    parseStoragePath(path);
    const key = FILES + path;
    const room = MAX_KEY_BYTES - Buffer.byteLength(this.#bucket.options.prefix + key);
    if (room < 0) throw invalidStoragePath(path, `it is ${-room} bytes longer than a key of the bucket can be`);
    await this.#fold();
    return key;
  }

  async #fold(): Promise<void> {
    this.#folded ??= foldParts(this.#bucket);
    try {
      await this.#folded;
    } catch (error) {
      this.#folded = undefined;
      throw error;
    }
  }

  #see(key: string): Promise<StoredObject | undefined> {
    return this.#lookFor(key, () => this.#bucket.head(key));
  }

  #lookFor<T>(key: string, look: () => Promise<T | undefined>): Promise<T | undefined> {
    return lookAgain(look, this.#written.has(key) ? undefined : 1);
  }

  async #put(key: string, content: string | Uint8Array, options: PutOptions): Promise<void> {
    await this.#bucket.put(key, content, options);
    this.#written.add(key);
  }

  /** As in a folder: a name is a file's or a folder's. Two who begin both in the same moment are not kept from it. */
  async #refuseShape(path: string): Promise<void> {
    const segments = path.split("/");
    const folders = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
    const refusal = invalidStoragePath(path, "a file and a folder would have the same name");
    if (await this.#bucket.hasAny(`${FILES}${path}/`)) throw refusal;
    for (let at = 0; at < folders.length; at += LOOKS_AT_ONCE) {
      const some = folders.slice(at, at + LOOKS_AT_ONCE);
      const files = await Promise.all(some.map((folder) => this.#bucket.head(FILES + folder)));
      if (files.some((file) => file !== undefined)) throw refusal;
    }
  }
}

function isPath(path: string): boolean {
  try {
    parseStoragePath(path);
    return true;
  } catch {
    return false;
  }
}
