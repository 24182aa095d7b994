import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { tryLock } from "../try-lock.ts";
import { isSystemError, writeDurably } from "./durable-write.ts";

/** The form of a saved workflow's name. Its file is named after it. */
export const LIBRARY_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

/** How long to wait for another process that makes a change. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 10;

/** The folder of saved workflows. A change needs its lock, and each file is written at once and durably. */
export class LibraryFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Makes a change while no other process does. Throws `LIBRARY_UNWRITABLE`, `LIBRARY_LOCKED`. */
  async locked<T>(act: () => Promise<T>): Promise<T> {
    const inner = join(this.#dir, ".pawl");
    try {
      await mkdir(inner, { recursive: true });
      const lock = await acquire(inner);
      try {
        return await act();
      } finally {
        lock.close();
      }
    } catch (error) {
      if (!isSystemError(error) && !isSqliteError(error)) throw error;
      throw new PawlError("LIBRARY_UNWRITABLE", { message: `${this.#dir}: ${error.message}.`, cause: error });
    }
  }

  /** Names of files that may hold a saved workflow, in order. */
  async names(): Promise<readonly string[]> {
    const files = await readdir(this.#dir).catch((error: unknown) => {
      if (isSystemError(error) && error.code === "ENOENT") return [];
      throw error;
    });
    const stems = files
      .filter((file) => file.endsWith(".json") && file !== "index.json")
      .map((file) => file.slice(0, -".json".length));
    return stems.filter((stem) => LIBRARY_NAME.test(stem)).sort();
  }

  async write(file: string, text: string): Promise<void> {
    await writeDurably(join(this.#dir, file), text, join(this.#dir, ".pawl", "incoming"));
  }

  fileOf(name: string): string {
    return join(this.#dir, `${name}.json`);
  }
}

async function acquire(folder: string): Promise<DatabaseSync> {
  const holder = join(folder, "holder");
  for (const deadline = Date.now() + PATIENCE_MS; ; await setTimeout(LOOK_AGAIN_MS)) {
    const lock = tryLock(join(folder, "lock.db"));
    if (lock !== undefined) {
      await writeFile(holder, `process ${process.pid} on ${hostname()}`);
      return lock;
    }
    if (Date.now() < deadline) continue;
    const who = await readFile(holder, "utf8").catch(() => "another process");
    throw new PawlError("LIBRARY_LOCKED", { message: `${folder} is held by ${who}.` });
  }
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && "errcode" in error;
}
