import { hash } from "node:crypto";
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { z } from "zod";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { CSV_FORMAT, guardFormula, parseCsv, type Rows, toCsv, toFields } from "./csv-text.ts";

export interface Addition {
  /** The key of the step instance that adds: an addition is made once for each key. */
  readonly key: string;
  readonly rows: Rows;
  readonly keepsFormulas: boolean;
}

export interface Added {
  readonly columns: readonly string[];
  /** Columns that the file did not have. */
  readonly newColumns: readonly string[];
}

/** New columns are put into every line that is there, in memory. */
const MAX_REWRITTEN_BYTES = 64 * 1024 * 1024;
const MAX_HEADER_BYTES = 1024 * 1024;
const PIECE_BYTES = 64 * 1024;

/**
 * Adds rows behind a CSV file, each addition once, at a cost that does not grow with the file. A note beside it says
 * beforehand what is added and where: after a crash it tells whether that has happened, and a part of it is written over.
 * Columns that the file does not have exchange it as a whole. The caller lets one call for a file follow the other. Throws
 * `STORAGE_CHANGED` where another process was faster: nothing is lost, and a second call with the same `refused` adds the rows.
 */
export async function appendRows(
  files: FileStorage,
  path: string,
  additions: readonly Addition[],
  refused: Set<string> = new Set(),
): Promise<readonly Added[]> {
  const note = await settleNote(files, path, await readNote(files, path));
  return await new CsvFile(files, path, note, refused).append(additions);
}

class CsvFile {
  readonly #files: FileStorage;
  readonly #path: string;
  readonly #note: SettledNote;
  /** Keys of additions that were refused. The note may take the same rows of another process for them. */
  readonly #refused: Set<string>;

  constructor(files: FileStorage, path: string, note: SettledNote, refused: Set<string>) {
    this.#files = files;
    this.#path = path;
    this.#note = note;
    this.#refused = refused;
  }

  async append(additions: readonly Addition[]): Promise<readonly Added[]> {
    const columns = await this.#readColumns();
    const { added, keys, records, all } = joinAll(
      additions,
      columns,
      this.#note.done.filter((key) => !this.#refused.has(key)),
    );
    if (keys.length === 0) return added;
    const lines = toCsv(pad(records, all));
    const length = this.#note.size;
    const isNew = columns.length === 0;
    if (all.length === columns.length || isNew) {
      const from = this.#note.end;
      const content = Buffer.from(`${await this.#endOfLine()}${isNew ? toCsv([all]) : ""}${lines}`);
      await this.#noted({ keys, from, content, isWhole: false }, () =>
        this.#files.extend(this.#path, { from, content, length }),
      );
    } else {
      const content = Buffer.from(`${await this.#widen(all)}${lines}`);
      await this.#noted({ keys, from: 0, content, isWhole: true }, () =>
        this.#files.write(this.#path, content, { length }),
      );
    }
    return added;
  }

  /** The note is done when the write is over: whatever a person then does to the file is the person's. */
  async #noted({ content, ...begun }: Begun, write: () => Promise<void>): Promise<void> {
    const { done, length } = this.#note;
    const to = begun.from + content.byteLength;
    await writeNote(this.#files, this.#path, { done, length, pending: { ...begun, to, hash: hashOf(content) } });
    try {
      await write();
    } catch (error) {
      if (isPawlError(error) && error.code === "STORAGE_CHANGED") for (const key of begun.keys) this.#refused.add(key);
      throw error;
    }
    await writeNote(this.#files, this.#path, { done: [...done, ...begun.keys], length: to, pending: undefined });
  }

  /** The header; none where there is nothing yet. A file that another program has changed is looked through as a whole. */
  async #readColumns(): Promise<readonly string[]> {
    const isAsLeft = this.#note.length === this.#note.end;
    let columns: readonly string[] | undefined;
    const source = Readable.from(
      this.#pieces(() => columns === undefined),
      { highWaterMark: 1 },
    );
    const records = source.pipe(parse({ ...CSV_FORMAT, ...(isAsLeft ? { to: 1 } : {}) }));
    source.on("error", (error) => records.destroy(error));
    try {
      for await (const record of records) {
        columns ??= record;
        if (isAsLeft) break;
      }
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      throw this.#broken("a quote in it is never closed, or stands in the middle of a field");
    } finally {
      source.destroy();
    }
    const [only = "", ...others] = columns ?? [];
    if (others.length === 0 && /[;\t]/.test(only)) throw this.#broken("its fields are not separated by commas");
    return columns ?? [];
  }

  async *#pieces(isInHeader: () => boolean): AsyncGenerator<Uint8Array> {
    const { end } = this.#note;
    for (let from = 0; from < end; from += PIECE_BYTES) {
      if (isInHeader() && from > MAX_HEADER_BYTES) throw this.#broken(`its first line is longer than ${from} bytes`);
      yield await this.#files.readRange(this.#path, { from, to: Math.min(end, from + PIECE_BYTES) });
    }
  }

  /** The file with the new columns behind its own, empty in its rows. */
  async #widen(columns: readonly string[]): Promise<string> {
    const { end } = this.#note;
    if (end > MAX_REWRITTEN_BYTES)
      throw this.#broken(`they have new columns, and it is larger than ${MAX_REWRITTEN_BYTES} bytes`);
    const content = await this.#files.readRange(this.#path, { from: 0, to: end });
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
    const [, ...records] = parseCsv(text);
    return `${text.startsWith("\ufeff") ? "\ufeff" : ""}${toCsv([columns, ...pad(records, columns)])}`;
  }

  /** The last line may lack its end. */
  async #endOfLine(): Promise<string> {
    const { end } = this.#note;
    const [last] = await this.#files.readRange(this.#path, { from: Math.max(0, end - 1), to: end });
    return last === undefined || last === 0x0a || last === 0x0d ? "" : "\r\n";
  }

  #broken(why: string): PawlError {
    return new PawlError("CSV_BROKEN", { message: `Rows cannot be added to "${this.#path}": ${why}.` });
  }
}

interface Begun extends Pick<PendingAdditions, "keys" | "from" | "isWhole"> {
  readonly content: Uint8Array;
}

/** Joins the additions that are not done: their keys, their records, and the columns that the file has afterwards. */
function joinAll(additions: readonly Addition[], columns: readonly string[], done: readonly string[]) {
  const known = new Set(done);
  const keys: string[] = [];
  const records: (readonly string[])[] = [];
  let all = columns;
  const added = additions.map(({ key, rows, keepsFormulas }): Added => {
    if (known.has(key)) return { columns: all, newColumns: [] };
    known.add(key);
    keys.push(key);
    const before = all;
    const found = rows.columns.filter((name) => !before.includes(name) && !before.includes(guardFormula(name)));
    const names = [...before.map((column) => nameOf(column, rows)), ...found];
    records.push(...rows.rows.map((row) => toFields(row, names, keepsFormulas)));
    all = [...before, ...found.map((column) => (keepsFormulas ? column : guardFormula(column)))];
    return { columns: all, newColumns: before.length === 0 ? [] : found };
  });
  return { added, keys, records, all };
}

/** Columns that came behind a row are empty in it. */
function pad(records: readonly (readonly string[])[], columns: readonly string[]) {
  return records.map((record) => [...record, ...columns.slice(record.length).map(() => "")]);
}

/** A column whose name was guarded when the file began is still that column. */
function nameOf(column: string, { columns }: Rows): string {
  return columns.find((name) => name === column || guardFormula(name) === column) ?? column;
}

const texts = z.array(z.string()).catch([]);

const PENDING = z.object({
  keys: texts,
  from: z.number(),
  to: z.number(),
  /** The hash of the bytes from `from` until before `to`, once the addition has happened. */
  hash: z.string(),
  /** The file is exchanged for another, at once: then nothing can be half of it. */
  isWhole: z.boolean().catch(false),
});

const NOTE = z.object({
  /** Additions that have happened, the latest last. */
  done: texts,
  /** How long the file was after the last of them. Undefined: unknown. */
  length: z.number().optional().catch(undefined),
  /** The additions that were begun together. It is on disk before the file is touched, and goes when it has happened. */
  pending: PENDING.optional().catch(undefined),
});

/** The note about a file that rows are added to. */
type Note = Readonly<z.infer<typeof NOTE>>;
type PendingAdditions = Readonly<z.infer<typeof PENDING>>;
/** A note with where the file ends as far as it counts, and how long it is. */
type SettledNote = Note & { readonly end: number; readonly size: number };

/** A step that is done again after a crash comes at once: what was added longer ago than so many others is not asked for. */
const MAX_KEYS = 1_000;

async function readNote(files: FileStorage, path: string): Promise<Note> {
  const content = await files.read(placeOf(path));
  const read = NOTE.safeParse(content === undefined ? undefined : parseJson(Buffer.from(content).toString()));
  return read.success ? read.data : { done: [] };
}

async function writeNote(files: FileStorage, path: string, { done, length, pending }: Note): Promise<void> {
  const note = { path, done: done.slice(-MAX_KEYS), length, pending };
  await files.write(placeOf(path), `${writeExact(note)}\n`);
}

/** Settles an addition that was begun and not noted as done: it is complete, or its part behind the old end is written over. */
async function settleNote(files: FileStorage, path: string, note: Note): Promise<SettledNote> {
  const size = (await files.sizeOf(path)) ?? 0;
  const { pending, done } = note;
  if (pending === undefined) return { ...note, end: size, size };
  const { keys, from, to, hash: wanted, isWhole } = pending;
  if (size >= to && hashOf(await files.readRange(path, { from, to })) === wanted)
    return { done: [...done, ...keys], length: to, pending: undefined, end: size, size };
  // Where nothing can be half written, what lies there is another process's.
  const end = isWhole || files.extendsAtomically === true ? size : Math.min(size, from);
  return { done, length: isWhole ? undefined : note.length, pending: undefined, end, size };
}

function hashOf(content: Uint8Array): string {
  return hash("sha256", content);
}

function placeOf(path: string): string {
  return `csv-additions/${hash("sha256", path).slice(0, 32)}.json`;
}
