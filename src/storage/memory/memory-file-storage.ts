import type { FileStorage } from "../../ports/file-storage.ts";
import { invalidStoragePath, parseStoragePath, parseStoragePrefix } from "../storage-path.ts";

/** The reference implementation of `FileStorage`. */
export class MemoryFileStorage implements FileStorage {
  readonly #files = new Map<string, { readonly content: Uint8Array; readonly modifiedAt: number }>();

  async read(path: string): Promise<Uint8Array | undefined> {
    parseStoragePath(path);
    return this.#files.get(path)?.content.slice();
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    parseStoragePath(path);
    for (const other of this.#files.keys()) {
      if (path.startsWith(`${other}/`)) throw invalidStoragePath(path, `\`${other}\` is a file`);
      if (other.startsWith(`${path}/`)) throw invalidStoragePath(path, "it is a folder");
    }
    this.#files.set(path, { content: Uint8Array.from(Buffer.from(content)), modifiedAt: Date.now() });
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
