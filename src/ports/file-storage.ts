/**
 * The application's own files: `{storage.PATH}`, `on_complete.storage_path`. Paths are relative, `/`-separated;
 * one that would leave the storage (`..`, absolute, through a link) is refused with `STORAGE_PATH_INVALID`.
 */
export interface FileStorage {
  read(path: string): Promise<Uint8Array | undefined>;
  /** Atomic: readers see the old content or the new one. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  list(
    prefix: string,
  ): Promise<readonly { readonly path: string; readonly bytes: number; readonly modifiedAt: number }[]>;
  /** False if there was none. */
  remove(path: string): Promise<boolean>;
}
