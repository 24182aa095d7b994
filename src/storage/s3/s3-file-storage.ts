import { randomUUID } from "node:crypto";
import type { Addition, ByteRange, FileStorage, KnownLength } from "../../ports/file-storage.ts";
import { invalidStoragePath, parseStoragePath, parseStoragePrefix } from "../storage-path.ts";
import { fileKeyOf, PARTS, type Part, partsFolderOf, pathOf, toBaseMetadata } from "./file-parts.ts";
import { PartedFiles, refuseOtherLength } from "./parted-files.ts";
import type { S3Bucket } from "./s3-bucket.ts";

/** Folders of a path that are looked for at once. */
const LOOKS_AT_ONCE = 16;
/** What may still be read or be about to be referred to. */
const GRACE_MS = 3_600_000;

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** The application's files in a bucket. A file is as long as its base and the parts behind it: see `parted-files.ts`. */
export class S3FileStorage implements FileStorage {
  readonly extendsAtomically = true;
  readonly #bucket: S3Bucket;
  readonly #files: PartedFiles;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
    this.#files = new PartedFiles(bucket);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#files.read(path, { from: 0, to: Number.POSITIVE_INFINITY });
  }

  async readRange(path: string, range: ByteRange): Promise<Uint8Array> {
    return (await this.#files.read(path, range)) ?? new Uint8Array();
  }

  async sizeOf(path: string): Promise<number | undefined> {
    const { base, size } = await this.#files.see(path);
    return base === undefined ? undefined : size;
  }

  async write(path: string, content: string | Uint8Array, { length }: KnownLength = {}): Promise<void> {
    const bytes = Buffer.from(content);
    const seen = await this.#files.see(path);
    refuseOtherLength(path, seen, length);
    if (seen.base === undefined) await this.#refuseShape(path);
    if (seen.base === undefined || (seen.parts.length === 0 && seen.claims.length === 0 && length === undefined)) {
      await this.#files.putBase(path, bytes, { metadata: toBaseMetadata(randomUUID()) });
      await this.#files.removeParts(seen.left);
    } else await this.#files.rewrite(path, length, (_, options) => this.#files.putBase(path, bytes, options));
  }

  async extend(path: string, { from, content, length }: Addition): Promise<void> {
    const seen = await this.#files.seeUnclaimed(path);
    refuseOtherLength(path, seen, length);
    if (seen.size < from) throw new Error(`${path} is shorter than ${from} bytes.`);
    if (seen.base === undefined) {
      await this.#refuseShape(path);
      await this.#files.begin(path, seen.id);
    }
    if (from === seen.size) return this.#files.append(path, seen, content);
    const kept = await this.readRange(path, { from: 0, to: from });
    const whole = Buffer.concat([kept, content]);
    await this.#files.rewrite(path, seen.size, (_, options) => this.#files.putBase(path, whole, options));
  }

  async list(prefix: string): Promise<readonly StoredFile[]> {
    parseStoragePrefix(prefix);
    const withParts = new Set<string>();
    for await (const folder of this.#bucket.listFolders(PARTS)) withParts.add(folder);
    const files: StoredFile[] = [];
    for await (const { key, bytes, modifiedAt } of this.#bucket.list(fileKeyOf(prefix))) {
      const path = pathOf(key);
      if (path === undefined || !isPath(path)) continue;
      const seen = withParts.has(partsFolderOf(path)) ? await this.#files.see(path) : undefined;
      const latest = Math.max(modifiedAt, ...(seen?.parts ?? []).map((part) => part.modifiedAt));
      files.push({ path, bytes: seen?.base === undefined ? bytes : seen.size, modifiedAt: latest });
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    const { base } = await this.#files.see(path);
    if (base !== undefined) await this.#files.removeBase(path);
    // Listed when the base is gone: who adds from now on finds that out.
    for (const part of await this.#files.listParts(partsFolderOf(path))) await this.#bucket.remove(part.key);
    return base !== undefined;
  }

  /** Removes parts that no file refers to and that are older than an hour. `onlyLooks`: it removes nothing. */
  async collect(onlyLooks: boolean): Promise<{ readonly count: number; readonly bytes: number }> {
    const paths = new Map((await this.list("")).map(({ path }) => [partsFolderOf(path), path]));
    let [count, bytes] = [0, 0];
    for await (const folder of this.#bucket.listFolders(PARTS)) {
      const path = paths.get(folder);
      const listed = path === undefined ? await this.#files.listParts(folder) : await this.#garbageOf(path);
      for (const part of listed) {
        if (this.#files.ageOf(part) < GRACE_MS) continue;
        if (!onlyLooks) await this.#bucket.remove(part.key);
        count += 1;
        bytes += part.bytes;
      }
    }
    return { count, bytes };
  }

  async #garbageOf(path: string): Promise<readonly Part[]> {
    const { left, claims } = await this.#files.see(path);
    return [...left, ...claims];
  }

  /** As in a folder: a name is a file's or a folder's. Two who begin both in the same moment are not kept from it. */
  async #refuseShape(path: string): Promise<void> {
    const segments = path.split("/");
    const folders = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
    const refusal = invalidStoragePath(path, "a file and a folder would have the same name");
    if (await this.#bucket.hasAny(`${fileKeyOf(path)}/`)) throw refusal;
    for (let at = 0; at < folders.length; at += LOOKS_AT_ONCE) {
      const some = folders.slice(at, at + LOOKS_AT_ONCE);
      const files = await Promise.all(some.map((folder) => this.#bucket.head(fileKeyOf(folder))));
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
