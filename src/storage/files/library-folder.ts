import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isSystemError, writeDurably } from "./durable-write.ts";
import { type HeldLock, withLockFile } from "./lock-file.ts";

/** The form of a saved workflow's name. Its file is named after it. */
export const LIBRARY_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

const MAX_TRIES = 3;

/** The folder of saved workflows. A change needs its lock, and each file is written at once and durably. */
export class LibraryFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Makes a change while no other process does. `act` calls `refuseLost` before it writes: if the lock was taken over by
   * then, nothing has been written, and the change is tried again. Throws `LIBRARY_UNWRITABLE`, `LIBRARY_LOCKED`.
   */
  async locked<T>(act: (lock: HeldLock) => Promise<T>): Promise<T> {
    const inner = join(this.#dir, ".pawl");
    try {
      await mkdir(inner, { recursive: true });
      for (let tries = 1; ; tries += 1) {
        try {
          return await withLockFile(join(inner, "lock"), act);
        } catch (error) {
          if (!(error instanceof LockLost) || tries >= MAX_TRIES) throw error;
        }
      }
    } catch (error) {
      if (!isSystemError(error) && !(error instanceof LockLost)) throw error;
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

class LockLost extends Error {}

export async function refuseLost(lock: HeldLock): Promise<void> {
  if (!(await lock.isHeld())) throw new LockLost("the lock was taken over by another process");
}
