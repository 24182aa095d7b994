import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import type { RunNo } from "../../ports/journal.ts";

/** The last event that was committed. */
export interface Mark {
  readonly run: RunNo;
  readonly seq: number;
}

const BYTES = 64;

/**
 * How far the journal has come, in a file beside it: a log that is cut off or lost looks like one that ended earlier. It is
 * written with each commit and left to the system to store, so that it costs some microseconds. It outlives the process, and
 * after a power cut it may be behind the journal.
 */
export class CommitMark {
  readonly #file: number;

  /** Throws what the system throws. */
  constructor(path: string) {
    this.#file = openSync(path, "a+", 0o600);
    closeSync(this.#file);
    this.#file = openSync(path, "r+");
  }

  write({ run, seq }: Mark): void {
    writeSync(this.#file, `${run} ${seq}`.padEnd(BYTES - 1).concat("\n"), 0, "latin1");
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Undefined: none was left, or it cannot be read. */
export function readMark(path: string): Mark | undefined {
  if (!existsSync(path)) return undefined;
  const [, run, seq] = /^(\d{1,15}) (\d{1,15})\s/.exec(readFileSync(path, "latin1")) ?? [];
  return run === undefined ? undefined : { run: Number(run), seq: Number(seq) };
}
