import { cpSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { BetweenEvents, StandInCall } from "../../ports/stand-ins.ts";

/** What a death of the process would have left, and what the world outside knew. */
export interface Death {
  readonly data: string;
  /** The last event of the run that was on record, and its number. */
  readonly after: string;
  readonly seq: number;
  /** Those that came too late to be on record are among them. */
  readonly calls: readonly StandInCall[];
  readonly at: number;
}

/** Each is a copy of the data and a run to its end. Of more places in one case every second is left out, then of these, and so on. */
const MAX_DEATHS = 100;
const MAX_TRIES = 10;

/**
 * What deaths between any two events of a run would leave: copies of the data folder, each made in one turn of the event loop. The
 * process that goes on with one has nothing but it.
 */
export class Deaths {
  places = 0;
  kept: readonly Death[] = [];
  readonly #data: string;
  readonly #calls: readonly StandInCall[];
  #run: number | undefined;
  #every = 1;

  constructor(data: string, calls: readonly StandInCall[]) {
    this.#data = data;
    this.#calls = calls;
  }

  between({ run, seq, event, at }: BetweenEvents): void {
    // Runs that it starts die with it.
    this.#run ??= run;
    if (run !== this.#run) return;
    this.places += 1;
    if (this.places % this.#every !== 0) return;
    const data = `${this.#data}-${this.places}`;
    copyFolder(this.#data, data);
    const after = `event ${seq} (${event.type}${"path" in event ? ` ${event.path}` : ""})`;
    this.kept = [...this.kept, { data, after, seq, at, calls: [...this.#calls] }];
    if (this.kept.length <= MAX_DEATHS) return;
    this.#every *= 2;
    for (const [index, each] of this.kept.entries())
      if (index % 2 === 0) rmSync(each.data, { recursive: true, force: true });
    this.kept = this.kept.filter((_, index) => index % 2 === 1);
  }
}

/** Without what belongs to the owner, which nobody else may even open, and what SQLite makes again. */
function copyFolder(from: string, to: string): void {
  const filter = (path: string) => !/^(owner\.db.*|lock\.json|.*-shm)$/.test(basename(path)) && isPlain(path);
  for (let tries = 1; ; tries += 1) {
    try {
      return cpSync(from, to, { recursive: true, filter });
    } catch (error) {
      // A file got its name after it had been listed under another.
      if (tries === MAX_TRIES || !(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      rmSync(to, { recursive: true, force: true });
    }
  }
}

function isPlain(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true || found?.isDirectory() === true;
}
