import { PawlError } from "../core/errors/pawl-error.ts";
import type { FileStorage } from "../ports/file-storage.ts";

/** A file that the target has already. One with the same content stays, and one that an earlier import has begun goes on. */
export class ThereFile {
  readonly #files: FileStorage;
  readonly #path: string;
  readonly #bytes: number;
  #at = 0;

  static async find(files: FileStorage, path: string): Promise<ThereFile | undefined> {
    const bytes = await files.sizeOf(path);
    return bytes === undefined ? undefined : new ThereFile(files, path, bytes);
  }

  private constructor(files: FileStorage, path: string, bytes: number) {
    this.#files = files;
    this.#path = path;
    this.#bytes = bytes;
  }

  async compare(content: Buffer): Promise<void> {
    const range = { from: this.#at, to: Math.min(this.#bytes, this.#at + content.byteLength) };
    const found = range.from < range.to ? await this.#files.readRange(this.#path, range) : new Uint8Array();
    if (!content.subarray(0, found.byteLength).equals(found)) throw this.#differs();
    this.#at += content.byteLength;
  }

  end(bytes: number): void {
    if (this.#bytes > bytes) throw this.#differs();
  }

  #differs(): PawlError {
    return new PawlError("DATA_EXISTS", {
      message: `The storage has another file "${this.#path}" than the export.`,
      remedy: `Move it away first, for example with \`pawl storage get\` and \`pawl storage rm\`.`,
    });
  }
}
