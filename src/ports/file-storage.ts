export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export interface KnownLength {
  /**
   * How long the file is as far as the caller knows, 0 where there is none. Throws `STORAGE_CHANGED` and writes nothing where
   * another process was faster, so that neither loses what it adds. Undefined: whatever is there may go.
   */
  readonly length?: number | undefined;
}

export interface Addition extends KnownLength {
  readonly from: number;
  readonly content: Uint8Array;
}

export interface ListedFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** The application's own files. Paths are relative and `/`-separated; one that leaves the storage is refused with `STORAGE_PATH_INVALID`. */
export interface FileStorage {
  read(path: string): Promise<Uint8Array | undefined>;
  /** An addition is there as a whole or not at all, also after a crash. */
  readonly extendsAtomically?: true;
  /** Atomic: readers see the old content or the new one. See `KnownLength`. */
  write(path: string, content: string | Uint8Array, known?: KnownLength): Promise<void>;
  /** Bytes; undefined: it is not there. */
  sizeOf(path: string): Promise<number | undefined>;
  /** The bytes from `from` until before `to`, fewer where the file ends. None where there is no file. */
  readRange(path: string, range: ByteRange): Promise<Uint8Array>;
  /**
   * Lets the file go on with `content` at byte `from`, whatever was there; one that is not there begins. On the disk when it
   * resolves, but not atomic where nothing else is said: readers, and who comes after a crash, may see a part. Throws where
   * the file is shorter. See `KnownLength`.
   */
  extend(path: string, addition: Addition): Promise<void>;
  list(prefix: string): Promise<readonly ListedFile[]>;
  /** False if there was none. */
  remove(path: string): Promise<boolean>;
}
