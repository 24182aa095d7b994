import { type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Tells whether a journal's file, its folder and its log are still those that were opened. SQLite goes on writing into a
 * file that was deleted or replaced, and nobody ever reads it again.
 */
export class FileIdentity {
  readonly #path: string;
  readonly #folder: Stats;
  readonly #file: Stats;
  #log: { readonly ino: number; size: number } | undefined;

  /** Throws what the system throws. */
  constructor(path: string) {
    this.#path = path;
    this.#folder = statSync(dirname(path));
    this.#file = statSync(path);
  }

  /** What has happened to them. `cut`: the log has become shorter, as it does where a program checkpoints it, too. */
  check(): "same" | "cut" | { readonly lost: string } {
    const folder = statSync(dirname(this.#path), { throwIfNoEntry: false });
    if (!isSame(folder, this.#folder)) return { lost: describe(dirname(this.#path), folder) };
    const file = statSync(this.#path, { throwIfNoEntry: false });
    if (!isSame(file, this.#file)) return { lost: describe(this.#path, file) };
    return this.#checkLog(`${this.#path}-wal`);
  }

  #checkLog(path: string): ReturnType<FileIdentity["check"]> {
    const log = statSync(path, { throwIfNoEntry: false });
    const known = this.#log;
    if (known === undefined || log === undefined || log.ino !== known.ino) {
      if (known !== undefined) return { lost: describe(path, log) };
      if (log !== undefined) this.#log = { ino: log.ino, size: log.size };
      return "same";
    }
    const wasCut = log.size < known.size;
    known.size = log.size;
    return wasCut ? "cut" : "same";
  }
}

function isSame(now: Stats | undefined, then: Stats): boolean {
  return now !== undefined && now.ino === then.ino && now.dev === then.dev;
}

function describe(path: string, now: Stats | undefined): string {
  return `${path} was ${now === undefined ? "deleted" : "replaced"} while it was in use`;
}
