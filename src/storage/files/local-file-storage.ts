import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, realpath, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Addition, ByteRange, FileStorage, KnownLength, ListedFile } from "../../ports/file-storage.ts";
import {
  changedMeanwhile,
  INCOMING,
  invalidStoragePath,
  ownFolderOf,
  parseStoragePath,
  parseStoragePrefix,
} from "../storage-path.ts";
import { extendDurably, ifThere, isSystemError, toFileFailure, writeDurably } from "./durable-write.ts";

/** Others may be faster so many times in a row. */
const MAX_TRIES = 20;

/**
 * The application's files in a folder. A link that leads out of the folder is refused when a path goes through it;
 * someone who can exchange folders for links in that very moment can write to the disk anyway.
 */
export class LocalFileStorage implements FileStorage {
  readonly #folder: string;
  readonly #incoming: string;

  /** `incoming`: where unfinished writes lie, on the same disk; outside of the folder where others may change it. */
  constructor(folder: string, incoming = join(folder, INCOMING)) {
    this.#folder = resolve(folder);
    this.#incoming = resolve(incoming);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.#open(path, (file) => file.readFile());
  }

  async write(path: string, content: string | Uint8Array, { length }: KnownLength = {}): Promise<void> {
    if (length !== undefined) await this.#refuseOtherLength(path, length);
    const file = await this.#locate(path);
    try {
      await this.#writeWhereFoldersGo(file, content);
    } catch (error) {
      if (isSystemError(error) && ["EEXIST", "ENOTDIR", "EISDIR", "ENOTEMPTY"].includes(error.code))
        throw invalidStoragePath(path, "a file and a folder would have the same name", error);
      throw toFileFailure(error, file);
    }
  }

  async sizeOf(path: string): Promise<number | undefined> {
    const file = await this.#locate(path);
    const found = await ifThere(file, () => stat(file), undefined);
    return found?.isFile() ? found.size : undefined;
  }

  async readRange(path: string, range: ByteRange): Promise<Uint8Array> {
    return (await this.#open(path, (file) => readBytes(file, range))) ?? new Uint8Array();
  }

  async extend(path: string, { from, content, length }: Addition): Promise<void> {
    if (length !== undefined) await this.#refuseOtherLength(path, length);
    if ((await this.sizeOf(path)) === undefined && from === 0) return this.write(path, content);
    const file = await this.#locate(path);
    try {
      await extendDurably(file, { from, content });
    } catch (error) {
      throw toFileFailure(error, file);
    }
  }

  async list(prefix: string): Promise<readonly ListedFile[]> {
    const folders = parseStoragePrefix(prefix);
    if (folders.length > 0) await this.#refuseWayOut(prefix, folders);
    const files: ListedFile[] = [];
    for await (const file of this.#walk(folders.join("/"))) {
      if (file.path.startsWith(prefix)) files.push(file);
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async remove(path: string): Promise<boolean> {
    const file = await this.#locate(path);
    const isRemoved = await ifThere(file, () => rm(file).then(() => true), false);
    if (isRemoved) await this.#removeEmptyFolders(dirname(file));
    return isRemoved;
  }

  /** One process owns a folder, so that only what people do in this very moment goes unseen. */
  async #refuseOtherLength(path: string, length: number): Promise<void> {
    if (((await this.sizeOf(path)) ?? 0) !== length) throw changedMeanwhile(path);
  }

  /** Folders are there for the files in them: whoever removes the last one may take the folder from under a write. */
  async #writeWhereFoldersGo(file: string, content: string | Uint8Array): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await writeDurably(file, content, this.#incoming);
      } catch (error) {
        const isGone = isSystemError(error) && error.code === "ENOENT";
        if (!isGone || tries === MAX_TRIES) throw error;
      }
    }
  }

  /** A name that no file has any more may be a file's or a folder's. */
  async #removeEmptyFolders(lowest: string): Promise<void> {
    try {
      for (let folder = lowest; folder.startsWith(this.#folder + sep); folder = dirname(folder)) await rmdir(folder);
    } catch (error) {
      // There is something in it, or it is a link, or somebody was faster.
      if (!isSystemError(error)) throw error;
    }
  }

  /** Undefined: it is not there. */
  async #open<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
    const place = await this.#locate(path);
    const read = async (file: FileHandle) => ((await file.stat()).isFile() ? use(file) : undefined);
    return ifThere<T | undefined, undefined>(place, () => this.#openUnmoved(place, path, read), undefined);
  }

  /** The look at the way is repeated from its end: a command of an agent may put a link into it in that very moment. */
  async #openUnmoved<T>(place: string, path: string, use: (file: FileHandle, end: string) => Promise<T>): Promise<T> {
    // A pipe would let its reader wait for ever, and after some of them all that read files.
    const file = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const end = `/proc/self/fd/${file.fd}`;
      const opened = await readlink(end).catch(() => undefined);
      if (opened !== undefined && place !== this.#folder && !(await this.#isOfSameOwner(place, opened)))
        throw invalidStoragePath(path, "a link leads out of it");
      return await use(file, opened === undefined ? place : end);
    } finally {
      await file.close();
    }
  }

  async #locate(path: string): Promise<string> {
    const segments = parseStoragePath(path);
    await this.#refuseWayOut(path, segments);
    return join(this.#folder, ...segments);
  }

  async #refuseWayOut(path: string, segments: readonly string[]): Promise<void> {
    let place = this.#folder;
    for (const segment of segments) {
      place = join(place, segment);
      const found = await ifThere(place, () => lstat(place), undefined);
      if (found === undefined) return;
      if (found.isSymbolicLink() && !(await this.#staysWhereItIs(place)))
        throw invalidStoragePath(path, "a link leads out of it");
    }
  }

  /** A link that leads nowhere counts as leading out. */
  async #staysWhereItIs(place: string): Promise<boolean> {
    const target = await realpath(place).catch(() => undefined);
    return target !== undefined && this.#isOfSameOwner(place, target);
  }

  /** Whether a real path is in the storage, and in the folder of the owner that a path names. */
  async #isOfSameOwner(place: string, target: string): Promise<boolean> {
    const root = await realpath(this.#folder);
    const ownerOf = (path: string, folder: string) => ownFolderOf(path.slice(folder.length + 1).split(sep));
    return target.startsWith(root + sep) && ownerOf(target, root) === ownerOf(place, this.#folder);
  }

  /** Real files only: neither links nor unfinished writes. */
  async *#walk(folder: string): AsyncIterable<ListedFile> {
    const place = join(this.#folder, folder);
    const readNames = () => this.#openUnmoved(place, folder, (_, end) => readdir(end, { withFileTypes: true }));
    const found = await ifThere(place, readNames, []).catch((error: unknown) => {
      // What has become a link meanwhile is not listed either.
      if (isPawlError(error) && error.code === "STORAGE_PATH_INVALID") return [];
      throw error;
    });
    for (const entry of found) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (path === INCOMING) continue;
      if (entry.isDirectory()) yield* this.#walk(path);
      if (!entry.isFile()) continue;
      const file = join(this.#folder, path);
      // It may have been removed since its folder was read.
      const stats = await ifThere(file, () => stat(file), undefined);
      if (stats !== undefined) yield { path, bytes: stats.size, modifiedAt: Math.trunc(stats.mtimeMs) };
    }
  }
}

/** A part of a file, shorter where the file ends. */
async function readBytes(file: FileHandle, { from, to }: ByteRange): Promise<Uint8Array> {
  const { size } = await file.stat();
  const content = Buffer.allocUnsafe(Math.max(0, Math.min(to, size) - from));
  let at = 0;
  while (at < content.byteLength) {
    const { bytesRead } = await file.read(content, at, content.byteLength - at, from + at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return content.subarray(0, at);
}
