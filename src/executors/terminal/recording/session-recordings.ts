import { createWriteStream, mkdirSync } from "node:fs";
import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { writeExact } from "../../../core/exact-json.ts";
import { toIsoTime } from "../../../core/iso-time.ts";
import { toArtifactFolder } from "../../../ports/artifact-folder.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { type Secrets, StreamMask } from "./stream-mask.ts";

export interface RecordingsOptions {
  /** The folder of recordings that are being made. No other process writes there. */
  readonly dir: string;
  /** The storage that finished recordings go to. */
  files(): Promise<FileStorage>;
  /** The secrets that are known when a recording begins. */
  secrets(): Secrets;
  /** The limit of one recording. */
  readonly maxBytes: number;
  /** Whether what runs open or type into is recorded. */
  readonly recordsRuns: boolean;
  /** Whether sessions that no run has opened are recorded. */
  readonly recordsSessions: boolean;
  /** For a person: a recording that could not be made or kept. */
  tell(line: string): void;
}

interface Entry {
  readonly recording: Recording;
  finished: Promise<void> | undefined;
}

/**
 * Keeps recordings of sessions: `artifacts/RUN/SESSION.cast` for a run's, `terminals/SESSION.cast` for a session without a run. A
 * recording grows in a folder of its own and is put into the storage when the session or the run ends, or this process.
 * The next process finds the recordings that a killed one has left. A failed recording never fails the session.
 */
export class SessionRecordings {
  readonly #options: RecordingsOptions;
  /** By the path in the storage. */
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(options: RecordingsOptions) {
    this.#options = options;
  }

  /** A session has been opened, by a run where it has an owner. */
  opened(session: TerminalSession): void {
    const { owner } = session.facts;
    if (owner !== undefined) this.used(session, owner);
    else if (this.#options.recordsSessions) this.#begin(session, `terminals/${session.facts.id}.cast`);
  }

  /** A run does something with a session: from now on it is recorded for that run. */
  used(session: TerminalSession, runId: string): void {
    if (this.#options.recordsRuns) this.#begin(session, `${toArtifactFolder(runId)}${session.facts.id}.cast`);
  }

  /** Resolves when the recordings of a run are artifacts. */
  async runEnded(runId: string): Promise<void> {
    const paths = [...this.#entries.keys()].filter((path) => path.startsWith(toArtifactFolder(runId)));
    await Promise.all(paths.map((path) => this.#finish(path)));
    if (paths.length > 0) await this.#removeFolder(toArtifactFolder(runId));
  }

  /** Keeps what an earlier process has left behind. */
  async keepLeft(): Promise<void> {
    for (const path of await this.#filesBelow(this.#options.dir)) {
      await this.#publish(path);
      await this.#removeFolder(dirname(path));
    }
  }

  /** Resolves when all recordings are kept. Nothing is recorded from now on. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((path) => this.#finish(path)));
  }

  #begin(session: TerminalSession, path: string): void {
    if (this.#isClosed || !session.isRunning || this.#entries.has(path)) return;
    const file = join(this.#options.dir, path);
    const { secrets, maxBytes } = this.#options;
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const onEnded = () => void this.#finish(path);
      const recording = recordAsciicast(session, { path: file, secrets: secrets(), maxBytes, onEnded });
      this.#entries.set(path, { recording, finished: undefined });
    } catch (error) {
      this.#tellFailure(path, toError(error));
    }
  }

  #finish(path: string): Promise<void> {
    const entry = this.#entries.get(path);
    if (entry === undefined) return Promise.resolve();
    entry.finished ??= this.#stopAndPublish(entry, path);
    return entry.finished;
  }

  async #stopAndPublish({ recording }: Entry, path: string): Promise<void> {
    const failure = await recording.stop();
    if (failure !== undefined) this.#tellFailure(path, failure);
    await this.#publish(path);
    this.#entries.delete(path);
  }

  /** A recording that cannot be stored stays where it is, for the next process. */
  async #publish(path: string): Promise<void> {
    const file = join(this.#options.dir, path);
    try {
      const recorded = toWholeLines(await readFile(file));
      if (recorded.length > 0) await this.#store(path, recorded);
      await rm(file);
    } catch (error) {
      const failure = toError(error);
      if (!("code" in failure && failure.code === "ENOENT")) this.#tellFailure(path, failure);
    }
  }

  /** Under another name where this one is taken: a session that outlives a process is recorded in parts. */
  async #store(path: string, recorded: Uint8Array): Promise<void> {
    const files = await this.#options.files();
    for (let part = 1; ; part += 1) {
      const name = part === 1 ? path : path.replace(/\.cast$/, `-${part}.cast`);
      const there = await files.read(name);
      // A process may have ended between storing and removing.
      if (there !== undefined && Buffer.compare(there, recorded) === 0) return;
      if (there === undefined) return files.write(name, recorded);
    }
  }

  /** Only where nothing is in it. */
  async #removeFolder(path: string): Promise<void> {
    await rmdir(join(this.#options.dir, path)).catch(() => undefined);
  }

  async #filesBelow(dir: string): Promise<string[]> {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return files.map((file) => relative(dir, file).split(sep).join("/"));
  }

  #tellFailure(path: string, { message }: Error): void {
    this.#options.tell(`The recording ${path} is not complete: ${message}`);
  }
}

/** A process that was killed may have written half a line. */
function toWholeLines(recorded: Uint8Array): Uint8Array {
  return recorded.subarray(0, recorded.lastIndexOf(0x0a) + 1);
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

interface RecorderOptions {
  readonly path: string;
  readonly secrets: Secrets;
  /** Then the recording ends with a remark. */
  readonly maxBytes: number;
  /** The program has ended: nothing more will come. */
  onEnded?(): void;
}

interface Recording {
  /** Resolves when everything is in the file, with why it could not be where that is so. */
  stop(): Promise<Error | undefined>;
}

/**
 * Writes what a session shows to a file that terminal players understand (asciicast v2): a header, then a line for each
 * piece of output with the seconds since the beginning. The first line shows the screen as it was then. What has come is
 * handed to the system at once, so that it stays when this process is killed. A file that cannot be written ends the
 * recording, never the session.
 */
function recordAsciicast(session: TerminalSession, options: RecorderOptions): Recording {
  const { path, secrets, maxBytes, onEnded } = options;
  const file = createWriteStream(path, { mode: 0o600 });
  const mask = new StreamMask(secrets);
  const startedAt = performance.now();
  let failure: Error | undefined;
  let bytes = 0;
  let gathered = "";
  let isFull = false;

  file.once("error", (error) => {
    failure = error;
    leave();
  });
  const { columns: width, rows: height } = session.screen;
  const began = Date.now();
  const timestamp = Math.floor(began / 1000);
  const title = secrets.mask(session.facts.command);
  // Players know whole seconds. A step of the run may be over in less: who shows both wants more.
  const started_at = toIsoTime(began);
  append(writeExact({ version: 2, width, height, timestamp, started_at, title, env: { TERM: "xterm-256color" } }));
  const { snapshot, leave } = session.join({
    data: (data) => show(mask.push(data)),
    resized: (columns, rows) => add("r", `${columns}x${rows}`),
    ended: () => onEnded?.(),
  });
  if (session.state !== "initializing") show(mask.push(snapshot));

  return {
    async stop() {
      leave();
      show(mask.end());
      flush();
      await new Promise<void>((resolve) => {
        if (file.closed) return resolve();
        file.once("close", resolve);
        file.end();
      });
      return failure;
    },
  };

  function show(text: string): void {
    if (text !== "") add("o", text);
  }

  function add(type: "o" | "r" | "m", text: string): void {
    if (isFull) return;
    const seconds = Number(((performance.now() - startedAt) / 1000).toFixed(6));
    const line = writeExact([seconds, type, text]);
    isFull = bytes + Buffer.byteLength(line) >= maxBytes;
    append(isFull ? writeExact([seconds, "m", `The recording ends here: it may be ${maxBytes} bytes long.`]) : line);
  }

  function append(line: string): void {
    // Events of one turn of the loop are written together.
    if (gathered === "") setImmediate(flush);
    gathered += `${line}\n`;
    bytes += Buffer.byteLength(line) + 1;
  }

  function flush(): void {
    if (gathered !== "" && failure === undefined && !file.writableEnded) file.write(gathered);
    gathered = "";
  }
}
