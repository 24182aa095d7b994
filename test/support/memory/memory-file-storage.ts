import type { Addition, ByteRange, FileStorage, KnownLength } from "../../../src/ports/file-storage.ts";
import {
  changedMeanwhile,
  invalidStoragePath,
  parseStoragePath,
  parseStoragePrefix,
} from "../../../src/storage/storage-path.ts";

/** The reference implementation of `FileStorage`. */
export class MemoryFileStorage implements FileStorage {
  readonly #files = new Map<string, { readonly content: Uint8Array; readonly modifiedAt: number }>();

  async read(path: string): Promise<Uint8Array | undefined> {
    parseStoragePath(path);
    return this.#files.get(path)?.content.slice();
  }

  async write(path: string, content: string | Uint8Array, { length }: KnownLength = {}): Promise<void> {
    parseStoragePath(path);
    const size = this.#files.get(path)?.content.byteLength ?? 0;
    if (length !== undefined && size !== length) throw changedMeanwhile(path);
    for (const other of this.#files.keys()) {
      if (path.startsWith(`${other}/`)) throw invalidStoragePath(path, `\`${other}\` is a file`);
      if (other.startsWith(`${path}/`)) throw invalidStoragePath(path, "it is a folder");
    }
    this.#files.set(path, { content: new Uint8Array(Buffer.from(content)), modifiedAt: Date.now() });
  }

  async sizeOf(path: string): Promise<number | undefined> {
    parseStoragePath(path);
    return this.#files.get(path)?.content.byteLength;
  }

  async readRange(path: string, { from, to }: ByteRange): Promise<Uint8Array> {
    parseStoragePath(path);
    return this.#files.get(path)?.content.slice(from, to) ?? new Uint8Array();
  }

  async extend(path: string, { from, content, length }: Addition): Promise<void> {
    const before = (await this.read(path)) ?? new Uint8Array();
    if (before.byteLength < from) throw new Error(`${path} is shorter than ${from} bytes.`);
    await this.write(path, Buffer.concat([before.subarray(0, from), content]), { length });
  }

  async list(prefix: string): Promise<readonly { path: string; bytes: number; modifiedAt: number }[]> {
    parseStoragePrefix(prefix);
    return [...this.#files]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, { content, modifiedAt }]) => ({ path, bytes: content.byteLength, modifiedAt }))
      .sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    parseStoragePath(path);
    return this.#files.delete(path);
  }
}
