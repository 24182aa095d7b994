export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The application's own files: `{storage.PATH}`, `on_complete.storage_path`. Paths are relative, `/`-separated;
 * one that would leave the storage (`..`, absolute, through a link) is refused with `STORAGE_PATH_INVALID`.
 */
export interface FileStorage {
  read(path: string): Promise<Uint8Array | undefined>;
  /** Atomic: readers see the old content or the new one. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Bytes; undefined: it is not there. */
  sizeOf(path: string): Promise<number | undefined>;
  /** The bytes from `from` until before `to`, fewer where the file ends. None where there is no file. */
  readRange(path: string, range: ByteRange): Promise<Uint8Array>;
  /**
   * Lets the file go on with `content` at byte `from`, whatever was there; one that is not there begins. On the disk when it
   * resolves, but not atomic: readers, and who comes after a crash, may see a part. Throws where the file is shorter.
   */
  extend(path: string, addition: { readonly from: number; readonly content: Uint8Array }): Promise<void>;
  list(
    prefix: string,
  ): Promise<readonly { readonly path: string; readonly bytes: number; readonly modifiedAt: number }[]>;
  /** False if there was none. */
  remove(path: string): Promise<boolean>;
}
