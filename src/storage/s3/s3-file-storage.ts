import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Addition, ByteRange, FileStorage, KnownLength } from "../../ports/file-storage.ts";
import { changedMeanwhile, invalidStoragePath, parseStoragePath, parseStoragePrefix } from "../storage-path.ts";
import {
  fileKeyOf,
  hasFolded,
  hasFork,
  newClaimName,
  newPartName,
  PARTS,
  type Part,
  partsFolderOf,
  pathOf,
  type SeenFile,
  toBaseMetadata,
  toSeenFile,
} from "./file-parts.ts";
import { MIN_PART_BYTES, type S3Bucket } from "./s3-bucket.ts";
import { FreshKeys, lookAgain } from "./second-looks.ts";

/** The most that a key may have. */
const MAX_KEY_BYTES = 1_024;
/** More additions than these are put together into the base. */
const MAX_PARTS = 64;
/** A claim that is older is one of a process that has died. Half of it is the most that a claim is used. */
const CLAIM_MS = 60_000;
const CLAIM_PAUSE_MS = 100;
/** A reader begins again where a file was put together under its hands. */
const MAX_READS = 10;
const READS_AT_ONCE = 16;
const MAX_REWRITES = 10;
/** What may still be read or be about to be referred to. */
const GRACE_MS = 3_600_000;

interface StoredFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/**
 * The application's files in a bucket, laid out as `file-parts.ts` says. An addition is one object, however long the file
 * is. Two processes that add at the same place see each other, because each looks again after it has written: one of them at
 * least takes its part back and throws `STORAGE_CHANGED`. Whoever writes a new base while there are parts claims the file
 * first, and others wait for it.
 */
export class S3FileStorage implements FileStorage {
  readonly extendsAtomically = true;
  readonly #bucket: S3Bucket;
  readonly #written = new FreshKeys();

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#read(path, { from: 0, to: Number.POSITIVE_INFINITY });
  }

  async readRange(path: string, range: ByteRange): Promise<Uint8Array> {
    return (await this.#read(path, range)) ?? new Uint8Array();
  }

  async sizeOf(path: string): Promise<number | undefined> {
    const { base, size } = await this.#see(path);
    return base === undefined ? undefined : size;
  }

  async write(path: string, content: string | Uint8Array, { length }: KnownLength = {}): Promise<void> {
    const bytes = Buffer.from(content);
    const seen = await this.#see(path);
    refuseOtherLength(path, seen, length);
    if (seen.base === undefined) await this.#refuseShape(path);
    if (seen.base === undefined || (seen.parts.length === 0 && seen.claims.length === 0 && length === undefined)) {
      await this.#putBase(path, bytes, { metadata: toBaseMetadata(randomUUID()) });
      await this.#removeParts(seen.left);
    } else await this.#rewrite(path, length, (_, options) => this.#putBase(path, bytes, options));
  }

  async extend(path: string, { from, content, length }: Addition): Promise<void> {
    const seen = await this.#seeUnclaimed(path);
    refuseOtherLength(path, seen, length);
    if (seen.size < from) throw new Error(`${path} is shorter than ${from} bytes.`);
    if (seen.base === undefined) {
      await this.#refuseShape(path);
      await this.#putBase(path, "", { metadata: toBaseMetadata(seen.id) });
    }
    if (from === seen.size) return this.#append(path, seen, content);
    const kept = await this.readRange(path, { from: 0, to: from });
    const whole = Buffer.concat([kept, content]);
    await this.#rewrite(path, seen.size, (_, options) => this.#putBase(path, whole, options));
  }

  async list(prefix: string): Promise<readonly StoredFile[]> {
    parseStoragePrefix(prefix);
    const withParts = new Set<string>();
    for await (const folder of this.#bucket.listFolders(PARTS)) withParts.add(folder);
    const files: StoredFile[] = [];
    for await (const { key, bytes, modifiedAt } of this.#bucket.list(fileKeyOf(prefix))) {
      const path = pathOf(key);
      if (path === undefined || !isPath(path)) continue;
      const seen = withParts.has(partsFolderOf(path)) ? await this.#see(path) : undefined;
      const latest = Math.max(modifiedAt, ...(seen?.parts ?? []).map((part) => part.modifiedAt));
      files.push({ path, bytes: seen?.base === undefined ? bytes : seen.size, modifiedAt: latest });
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    const { base } = await this.#see(path);
    const key = fileKeyOf(path);
    this.#written.delete(key);
    if (base !== undefined) await this.#bucket.remove(key);
    // Listed when the base is gone: who adds from now on finds that out.
    for await (const part of this.#bucket.list(partsFolderOf(path))) await this.#bucket.remove(part.key);
    return base !== undefined;
  }

  /** Removes parts that no file refers to and that are older than an hour. `onlyLooks`: it removes nothing. */
  async collect(onlyLooks: boolean): Promise<{ readonly count: number; readonly bytes: number }> {
    const paths = new Map((await this.list("")).map(({ path }) => [partsFolderOf(path), path]));
    let [count, bytes] = [0, 0];
    for await (const folder of this.#bucket.listFolders(PARTS)) {
      const path = paths.get(folder);
      const listed = path === undefined ? await this.#listParts(folder) : await this.#garbageOf(path);
      for (const part of listed) {
        if (this.#ageOf(part) < GRACE_MS) continue;
        if (!onlyLooks) await this.#bucket.remove(part.key);
        count += 1;
        bytes += part.bytes;
      }
    }
    return { count, bytes };
  }

  async #garbageOf(path: string): Promise<readonly Part[]> {
    const { left, claims } = await this.#see(path);
    return [...left, ...claims];
  }

  /** Parts first: one that is folded into a base meanwhile is then known to be. */
  async #see(path: string): Promise<SeenFile> {
    const key = this.#keyOf(path);
    const folder = partsFolderOf(path);
    const listed = await this.#listParts(folder);
    const base = await lookAgain(() => this.#bucket.head(key), this.#written.has(key) ? undefined : 1);
    return toSeenFile(folder, base, listed);
  }

  async #seeUnclaimed(path: string): Promise<SeenFile> {
    for (;;) {
      const seen = await this.#see(path);
      if (!seen.claims.some((claim) => this.#isFresh(claim))) return seen;
      await setTimeout(CLAIM_PAUSE_MS);
    }
  }

  async #listParts(folder: string): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for await (const part of this.#bucket.list(folder)) parts.push({ ...part, name: "" });
    return parts;
  }

  async #read(path: string, range: ByteRange): Promise<Uint8Array | undefined> {
    for (let tries = 1; ; tries += 1) {
      const seen = await this.#see(path);
      if (seen.base === undefined) return undefined;
      const content = await this.#readPieces(path, seen, range);
      if (content !== undefined) return content;
      if (tries === MAX_READS) throw changedMeanwhile(path);
    }
  }

  /** Undefined: a piece has gone meanwhile. */
  async #readPieces(path: string, { base, parts }: SeenFile, range: ByteRange): Promise<Buffer | undefined> {
    const wanted: { readonly key: string; readonly range: ByteRange; readonly etag?: string | undefined }[] = [];
    let start = 0;
    for (const { key, bytes, etag } of [{ key: fileKeyOf(path), bytes: 0, ...base }, ...parts.map(withoutTag)]) {
      const [from, to] = [Math.max(0, range.from - start), Math.min(bytes, range.to - start)];
      if (from < to) wanted.push({ key, range: { from, to }, etag });
      start += bytes;
    }
    const contents: Buffer[] = [];
    for (let at = 0; at < wanted.length; at += READS_AT_ONCE) {
      const some = wanted.slice(at, at + READS_AT_ONCE);
      const got = await Promise.all(some.map(({ key, range: piece }) => this.#bucket.get(key, piece)));
      for (const [index, object] of got.entries()) {
        const etag = some[index]?.etag;
        if (object === undefined || (etag !== undefined && object.etag !== etag)) return undefined;
        contents.push(object.content);
      }
    }
    return Buffer.concat(contents);
  }

  async #append(path: string, before: SeenFile, content: Uint8Array): Promise<void> {
    if (content.byteLength === 0) return;
    const name = newPartName(before.size);
    const key = `${partsFolderOf(path)}${before.id}/${name}`;
    await this.#bucket.put(key, content);
    const after = await this.#findOut(path, before, name);
    if (after === "lost") {
      await this.#bucket.remove(key);
      throw changedMeanwhile(path);
    }
    if (after.parts.length >= MAX_PARTS) await this.#fold(path);
  }

  /** Whether a part that was written stays: nobody else has written at its place, and the base is the one it was for. */
  async #findOut(path: string, before: SeenFile, name: string): Promise<SeenFile | "lost"> {
    const expected = [...before.parts.map((part) => part.name), name];
    for (;;) {
      const now = await this.#see(path);
      if (now.base === undefined) return "lost";
      if (now.id !== before.id) return hasFolded(now.base, name) ? now : "lost";
      const found = now.parts.map((part) => part.name);
      if (found.length !== expected.length || !expected.every((other, index) => other === found[index])) return "lost";
      // Whoever has claimed the file may or may not have seen the part.
      if (!now.claims.some((claim) => this.#isFresh(claim))) return now;
      await setTimeout(CLAIM_PAUSE_MS);
    }
  }

  /** What was added is durable already: if this cannot be done now, the next addition does it. */
  async #fold(path: string): Promise<void> {
    try {
      await this.#rewrite(path, undefined, async (now, options) => {
        if (hasFork(now)) throw changedMeanwhile(path);
        const { base } = now;
        const range = { from: 0, to: Number.POSITIVE_INFINITY };
        if (base !== undefined && base.bytes >= MIN_PART_BYTES) {
          const added = await this.#readPieces(path, now, { ...range, from: base.bytes });
          if (added === undefined) throw changedMeanwhile(path);
          await this.#bucket.putBehind(fileKeyOf(path), base, added, options);
        } else {
          const whole = await this.#readPieces(path, now, range);
          if (whole === undefined) throw changedMeanwhile(path);
          await this.#putBase(path, whole, options);
        }
      });
    } catch (error) {
      if (!isPawlError(error)) throw error;
    }
  }

  /** Gives a file a new base, which takes the parts over that there are: nobody adds one meanwhile. */
  async #rewrite(path: string, length: number | undefined, put: PutBase): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#rewriteClaimed(path, length, put);
      } catch (error) {
        const isChanged = isPawlError(error) && error.code === "STORAGE_CHANGED";
        if (!isChanged || length !== undefined || tries === MAX_REWRITES) throw error;
      }
      // Two who claim a file at once must not come back at once.
      await setTimeout(CLAIM_PAUSE_MS * Math.random());
    }
  }

  async #rewriteClaimed(path: string, length: number | undefined, put: PutBase): Promise<void> {
    const before = await this.#seeUnclaimed(path);
    const claim = `${partsFolderOf(path)}${before.id}/${newClaimName()}`;
    const claimedAt = performance.now();
    await this.#bucket.put(claim, "");
    try {
      const now = await this.#see(path);
      const others = now.claims.filter((other) => other.key !== claim && this.#isFresh(other));
      const isLate = performance.now() - claimedAt > CLAIM_MS / 2;
      if (now.base === undefined || now.id !== before.id || others.length > 0 || isLate) throw changedMeanwhile(path);
      refuseOtherLength(path, now, length);
      await put(now, { metadata: toBaseMetadata(randomUUID(), now.parts), ifMatch: now.base.etag });
      await this.#removeParts([...now.parts, ...now.left]);
    } finally {
      await this.#removeParts([{ key: claim }]);
    }
  }

  async #putBase(path: string, content: string | Uint8Array, options: BaseOptions): Promise<void> {
    const key = this.#keyOf(path);
    await this.#bucket.put(key, content, options);
    this.#written.add(key);
  }

  /** The file does not need these any more: if they cannot be removed now, `collect` does it. */
  async #removeParts(parts: readonly { readonly key: string }[]): Promise<void> {
    await Promise.all(
      parts.map(({ key }) =>
        this.#bucket.remove(key).catch((error: unknown) => {
          if (!isPawlError(error)) throw error;
        }),
      ),
    );
  }

  /** As in a folder: a name is a file's or a folder's. Two who begin both in the same moment are not kept from it. */
  async #refuseShape(path: string): Promise<void> {
    const segments = path.split("/");
    const folders = segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
    const refusal = invalidStoragePath(path, "a file and a folder would have the same name");
    if (await this.#bucket.hasAny(`${fileKeyOf(path)}/`)) throw refusal;
    for (let at = 0; at < folders.length; at += READS_AT_ONCE) {
      const some = folders.slice(at, at + READS_AT_ONCE);
      const files = await Promise.all(some.map((folder) => this.#bucket.head(fileKeyOf(folder))));
      if (files.some((file) => file !== undefined)) throw refusal;
    }
  }

  #keyOf(path: string): string {
    parseStoragePath(path);
    const key = fileKeyOf(path);
    const room = MAX_KEY_BYTES - Buffer.byteLength(this.#bucket.options.prefix + key);
    if (room < 0) throw invalidStoragePath(path, `it is ${-room} bytes longer than a key of the bucket can be`);
    return key;
  }

  #isFresh(claim: Part): boolean {
    return this.#ageOf(claim) < CLAIM_MS;
  }

  #ageOf({ modifiedAt }: Part): number {
    return this.#bucket.now() - modifiedAt;
  }
}

type PutBase = (now: SeenFile, options: BaseOptions) => Promise<void>;

interface BaseOptions {
  readonly metadata: Readonly<Record<string, string>>;
  readonly ifMatch?: string;
}

function withoutTag({ key, bytes }: Part): { readonly key: string; readonly bytes: number; readonly etag?: undefined } {
  return { key, bytes };
}

function isPath(path: string): boolean {
  try {
    parseStoragePath(path);
    return true;
  } catch {
    return false;
  }
}

function refuseOtherLength(path: string, { size }: SeenFile, length: number | undefined): void {
  if (length !== undefined && size !== length) throw changedMeanwhile(path);
}
