import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { ByteRange } from "../../ports/file-storage.ts";
import { changedMeanwhile, invalidStoragePath, parseStoragePath } from "../storage-path.ts";
import {
  fileKeyOf,
  hasFolded,
  hasFork,
  newClaimName,
  newPartName,
  type Part,
  partsFolderOf,
  type SeenFile,
  toBaseMetadata,
  toSeenFile,
} from "./file-parts.ts";
import { MIN_PART_BYTES, type PutOptions, type S3Bucket } from "./s3-bucket.ts";
import { FreshKeys, lookAgain } from "./second-looks.ts";

/** The most that a key may have. */
const MAX_KEY_BYTES = 1_024;
/** More additions than these are put together into the base. */
const MAX_PARTS = 64;
/** A claim that is older is one of a process that has died. */
const CLAIM_MS = 60_000;
/** Much less: a store may be slow to do what nobody waits for any more. */
const CLAIM_USED_MS = 20_000;
const CLAIM_PAUSE_MS = 100;
const UNCLAIM_PAUSES_MS = [200, 500, 1_000, 2_000];
/** A reader begins again where a file was put together under its hands. */
const MAX_READS = 10;
const READ_PAUSE_MS = 20;
const READS_AT_ONCE = 16;
const MAX_REWRITES = 10;

/**
 * Files that are a base and parts, as `file-parts.ts` says. An addition is one object, however long the file is. Two
 * processes that add at the same place see each other, because each looks again after it has written: one of them at least
 * takes its part back and throws `STORAGE_CHANGED`. Whoever writes a new base while there are parts claims the file first,
 * and others wait for it.
 */
export class PartedFiles {
  readonly #bucket: S3Bucket;
  readonly #written = new FreshKeys();

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async read(path: string, range: ByteRange): Promise<Uint8Array | undefined> {
    for (let tries = 1; ; tries += 1) {
      const seen = await this.see(path);
      if (seen.base === undefined) return undefined;
      const content = await this.#readPieces(path, seen, range);
      if (content !== undefined) return content;
      if (tries === MAX_READS) throw changedMeanwhile(path);
      // A store may list a part before it gives it.
      await setTimeout(READ_PAUSE_MS * tries);
    }
  }

  /** Parts first: one that is folded into a base meanwhile is then known to be. */
  async see(path: string): Promise<SeenFile> {
    const key = this.keyOf(path);
    const folder = partsFolderOf(path);
    const listed = await this.listParts(folder);
    const base = await lookAgain(() => this.#bucket.head(key), this.#written.has(key) ? undefined : 1);
    return toSeenFile(folder, base, listed);
  }

  async seeUnclaimed(path: string): Promise<SeenFile> {
    for (;;) {
      const seen = await this.see(path);
      if (!seen.claims.some((claim) => this.#isFresh(claim))) return seen;
      await setTimeout(CLAIM_PAUSE_MS);
    }
  }

  async append(path: string, before: SeenFile, content: Uint8Array): Promise<void> {
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

  /** Gives a file a new base, which takes the parts over that there are: nobody adds one meanwhile. */
  async rewrite(path: string, length: number | undefined, put: PutBase): Promise<void> {
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

  async putBase(path: string, content: string | Uint8Array, options: PutOptions): Promise<void> {
    const key = this.keyOf(path);
    await this.#bucket.put(key, content, options);
    this.#written.add(key);
  }

  /** Begins a file with nothing in it. Whoever was faster has begun it: an addition finds out whether it fits. */
  async begin(path: string, id: string): Promise<void> {
    try {
      await this.putBase(path, "", { metadata: toBaseMetadata(id), isNew: true });
    } catch (error) {
      if (!isPawlError(error) || error.code !== "STORAGE_CHANGED") throw error;
    }
  }

  async removeBase(path: string): Promise<void> {
    const key = this.keyOf(path);
    this.#written.delete(key);
    await this.#bucket.remove(key);
  }

  /** The file does not need these any more: if they cannot be removed now, `collect` does it. */
  async removeParts(parts: readonly { readonly key: string }[]): Promise<void> {
    await Promise.all(
      parts.map(({ key }) =>
        this.#bucket.remove(key).catch((error: unknown) => {
          if (!isPawlError(error)) throw error;
        }),
      ),
    );
  }

  async listParts(folder: string): Promise<readonly Part[]> {
    const parts: Part[] = [];
    for await (const part of this.#bucket.list(folder)) parts.push({ ...part, name: "" });
    return parts;
  }

  keyOf(path: string): string {
    parseStoragePath(path);
    const key = fileKeyOf(path);
    const room = MAX_KEY_BYTES - Buffer.byteLength(this.#bucket.options.prefix + key);
    if (room < 0) throw invalidStoragePath(path, `it is ${-room} bytes longer than a key of the bucket can be`);
    return key;
  }

  ageOf({ modifiedAt }: Part): number {
    return this.#bucket.now() - modifiedAt;
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

  /** Whether a part that was written stays: nobody else has written at its place, and the base is the one it was for. */
  async #findOut(path: string, before: SeenFile, name: string): Promise<SeenFile | "lost"> {
    const expected = [...before.parts.map((part) => part.name), name];
    for (;;) {
      const now = await this.see(path);
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
      await this.#rewriteClaimed(path, undefined, async (now, options) => {
        if (hasFork(now, (part) => this.#isFresh(part))) throw changedMeanwhile(path);
        const { base } = now;
        const range = { from: 0, to: Number.POSITIVE_INFINITY };
        if (base !== undefined && base.bytes >= MIN_PART_BYTES) {
          const added = await this.#readPieces(path, now, { ...range, from: base.bytes });
          if (added === undefined) throw changedMeanwhile(path);
          await this.#bucket.putBehind(fileKeyOf(path), base, added, options);
        } else {
          const whole = await this.#readPieces(path, now, range);
          if (whole === undefined) throw changedMeanwhile(path);
          await this.putBase(path, whole, options);
        }
      });
    } catch (error) {
      if (!isPawlError(error)) throw error;
    }
  }

  async #rewriteClaimed(path: string, length: number | undefined, put: PutBase): Promise<void> {
    const before = await this.seeUnclaimed(path);
    const claim = `${partsFolderOf(path)}${before.id}/${newClaimName()}`;
    const by = performance.now() + CLAIM_USED_MS;
    try {
      await this.#bucket.put(claim, "");
      const now = await this.see(path);
      const others = now.claims.filter((other) => other.key !== claim && this.#isFresh(other));
      if (now.base === undefined || now.id !== before.id || others.length > 0) throw changedMeanwhile(path);
      refuseOtherLength(path, now, length);
      await put(now, { metadata: toBaseMetadata(randomUUID(), now.parts), ifMatch: now.base.etag, by });
      await this.removeParts([...now.parts, ...now.left]);
    } finally {
      await this.#unclaim(claim);
    }
  }

  /** Others wait for it: a store that fails for a moment must not keep them for as long as a dead process would. */
  async #unclaim(claim: string): Promise<void> {
    for (const pauseMs of UNCLAIM_PAUSES_MS) {
      try {
        return await this.#bucket.remove(claim);
      } catch (error) {
        if (!isStorageFailure(error)) return;
      }
      await setTimeout(pauseMs);
    }
  }

  #isFresh(claim: Part): boolean {
    return this.ageOf(claim) < CLAIM_MS;
  }
}

type PutBase = (now: SeenFile, options: PutOptions) => Promise<void>;

function withoutTag({ key, bytes }: Part): { readonly key: string; readonly bytes: number; readonly etag?: undefined } {
  return { key, bytes };
}

/** Throws `STORAGE_CHANGED` where the caller takes the file to be longer or shorter than it is. */
export function refuseOtherLength(path: string, { size }: SeenFile, length: number | undefined): void {
  if (length !== undefined && size !== length) throw changedMeanwhile(path);
}
