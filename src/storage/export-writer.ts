import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { PawlError } from "../core/errors/pawl-error.ts";
import { writeExact } from "../core/exact-json.ts";
import type { Json } from "../core/json.ts";
import { toFileFailure } from "./files/durable-write.ts";

/**
 * The one file that data is moved in: lines of JSON, compressed by gzip.
 * - the first line says what it is: `{"pawl": "export", "version": 1, ...}`;
 * - `{"table": NAME, "columns": [...]}`, then its rows as lists, then `{"end": NAME, "rows": N, "sha256": ...}`. Behind the last
 *   event of a run stands `{"history": RUN, "events": N, "sha256": ...}`;
 * - `{"value": SHA256}` or `{"file": PATH}`, then pieces of it in base64, then `{"end": "content", "bytes": N, "sha256": ...}`;
 * - the last line is `{"end": "export", ..., "sha256": ...}`, with the hash of all lines before it.
 */
export const EXPORT_VERSION = 1;

/** A piece of a value or file, and so what is in memory of it. */
export const PIECE_BYTES = 768 * 1024;

/** Writes an archive line by line. The file has its name when it is complete. */
export class ArchiveWriter {
  readonly #path: string;
  readonly #gzip = createGzip({ level: 1 });
  readonly #hash: Hash = createHash("sha256");
  readonly #written: Promise<void>;
  #waiting = "";

  /** Throws `BACKUP_EXISTS`, `JOURNAL_IO`, `JOURNAL_FULL`. */
  static async create(target: string): Promise<ArchiveWriter> {
    const path = resolve(target);
    refuseFile(path);
    const unfinished = unfinishedOf(path);
    try {
      await rm(unfinished, { force: true });
      const file = await open(unfinished, "wx", 0o600);
      await file.close();
      return new ArchiveWriter(path);
    } catch (error) {
      throw toFileFailure(error, unfinished);
    }
  }

  private constructor(path: string) {
    this.#path = path;
    this.#written = pipeline(this.#gzip, createWriteStream(unfinishedOf(path), { flags: "r+" }));
    // It is told to whoever writes or finishes.
    this.#written.catch(() => undefined);
  }

  /** `line`: as JSON. */
  async write(line: string): Promise<void> {
    this.#waiting += `${line}\n`;
    if (this.#waiting.length >= PIECE_BYTES) await this.#flush();
  }

  /** Ends the archive with `last` and the hash of everything before. Returns how large it is. */
  async finish(last: { readonly [name: string]: Json }): Promise<number> {
    await this.#flush();
    try {
      this.#gzip.end(`${writeExact({ ...last, sha256: this.#hash.digest("hex") })}\n`);
      await this.#written;
      await sync(unfinishedOf(this.#path));
      refuseFile(this.#path);
      await rename(unfinishedOf(this.#path), this.#path);
      await sync(dirname(this.#path));
      return (await stat(this.#path)).size;
    } catch (error) {
      throw toFileFailure(error, this.#path);
    }
  }

  /** Leaves nothing behind. */
  async abandon(): Promise<void> {
    this.#gzip.destroy();
    await this.#written.catch(() => undefined);
    await rm(unfinishedOf(this.#path), { force: true });
  }

  async #flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = "";
    this.#hash.update(text);
    if (this.#gzip.write(text)) return;
    try {
      await Promise.race([once(this.#gzip, "drain"), this.#written]);
    } catch (error) {
      throw toFileFailure(error, this.#path);
    }
  }
}

function unfinishedOf(path: string): string {
  return `${path}.unfinished`;
}

function refuseFile(path: string): void {
  if (!existsSync(path)) return;
  const remedy = "Name a file that is not there: each export is a new one.";
  throw new PawlError("BACKUP_EXISTS", { message: `${path} is there already.`, remedy });
}

async function sync(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
