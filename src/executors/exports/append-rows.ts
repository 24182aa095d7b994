import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { hashOf, type Note, type PendingAdditions, readNote, settleNote, writeNote } from "./addition-note.ts";
import type { Rows } from "./csv-rows.ts";
import { CSV_FORMAT, guardFormula, parseCsv, toCsv, toFields } from "./csv-text.ts";

export interface Addition {
  /** The key of the step instance that adds: an addition is made once for each key. */
  readonly key: string;
  readonly rows: Rows;
  readonly keepsFormulas: boolean;
}

export interface Added {
  readonly wasThere: boolean;
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
 * beforehand what is added and where: whoever comes after a crash sees by it whether it has happened, and writes over a part
 * of it. Columns that the file does not have exchange it as a whole. The caller lets one call for a file follow the other.
 */
export async function appendRows(
  files: FileStorage,
  path: string,
  additions: readonly Addition[],
): Promise<readonly Added[]> {
  const note = await settleNote(files, path, await readNote(files, path));
  const isAsLeft = note.length === note.end;
  const columns = await readColumns(files, { path, end: note.end, isWhole: !isAsLeft });
  const { added, keys, records, all } = joinAll(additions, { columns, done: note.done });
  if (keys.length === 0) return added;
  const lines = toCsv(pad(records, all));
  const isNew = columns.length === 0;
  if (all.length === columns.length || isNew) {
    const end = await endOfLine(files, { path, end: note.end });
    await add(files, { path, keys, note, from: note.end, text: `${end}${isNew ? toCsv([all]) : ""}${lines}` });
  } else {
    await exchange(files, { path, keys, note, text: await widen(files, { path, end: note.end }, all), lines });
  }
  return added;
}

interface Joined {
  readonly added: readonly Added[];
  /** The keys of the additions that were not there. */
  readonly keys: readonly string[];
  readonly records: readonly (readonly string[])[];
  /** The columns that the file has afterwards. */
  readonly all: readonly string[];
}

function joinAll(
  additions: readonly Addition[],
  { columns, done }: { readonly columns: readonly string[]; readonly done: readonly string[] },
): Joined {
  const known = new Set(done);
  const keys: string[] = [];
  const records: (readonly string[])[] = [];
  let all = columns;
  const added = additions.map(({ key, rows, keepsFormulas }): Added => {
    if (known.has(key)) return { wasThere: true, columns: all, newColumns: [] };
    known.add(key);
    keys.push(key);
    const before = all;
    const found = unknownTo(before, rows);
    const names = [...before.map((column) => nameOf(column, rows)), ...found];
    records.push(...rows.rows.map((row) => toFields(row, names, keepsFormulas)));
    all = [...before, ...found.map((column) => (keepsFormulas ? column : guardFormula(column)))];
    return { wasThere: false, columns: all, newColumns: before.length === 0 ? [] : found };
  });
  return { added, keys, records, all };
}

/** Columns that came behind a row are empty in it. */
function pad(records: readonly (readonly string[])[], columns: readonly string[]) {
  return records.map((record) => [...record, ...columns.slice(record.length).map(() => "")]);
}

interface Written {
  readonly path: string;
  readonly keys: readonly string[];
  readonly note: Note;
  readonly text: string;
}

async function add(files: FileStorage, { path, keys, note, from, text }: Written & { readonly from: number }) {
  const content = Buffer.from(text);
  const pending = { keys, from, to: from + content.byteLength, hash: hashOf(content), isWhole: false };
  await noted(files, { path, note, pending }, () => files.extend(path, { from, content }));
}

async function exchange(files: FileStorage, { path, keys, note, text, lines }: Written & { readonly lines: string }) {
  const content = Buffer.from(`${text}${lines}`);
  const pending = { keys, from: 0, to: content.byteLength, hash: hashOf(content), isWhole: true };
  await noted(files, { path, note, pending }, () => files.write(path, content));
}

interface Noted {
  readonly path: string;
  readonly note: Note;
  readonly pending: PendingAdditions;
}

/** Once it is said to be over, whatever a person does to the file is the person's. */
async function noted(files: FileStorage, { path, note, pending }: Noted, write: () => Promise<void>): Promise<void> {
  const { done, length } = note;
  await writeNote(files, path, { done, length, pending });
  await write();
  await writeNote(files, path, { done: [...done, ...pending.keys], length: pending.to, pending: undefined });
}

interface Part {
  readonly path: string;
  readonly end: number;
}

/** The header; none where there is nothing yet. A file that somebody else has changed is looked through as a whole. */
async function readColumns(
  files: FileStorage,
  { path, end, isWhole }: Part & { readonly isWhole: boolean },
): Promise<readonly string[]> {
  let columns: readonly string[] | undefined;
  async function* read() {
    for (let from = 0; from < end; from += PIECE_BYTES) {
      if (columns === undefined && from > MAX_HEADER_BYTES)
        throw broken(path, `its first line is longer than ${from} bytes`);
      yield await files.readRange(path, { from, to: Math.min(end, from + PIECE_BYTES) });
    }
  }
  const source = Readable.from(read(), { highWaterMark: 1 });
  const records = source.pipe(parse({ ...CSV_FORMAT, ...(isWhole ? {} : { to: 1 }) }));
  source.on("error", (error) => records.destroy(error));
  try {
    for await (const record of records) {
      columns ??= record;
      if (!isWhole) break;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw broken(path, "a quote in it is never closed, or stands in the middle of a field");
  } finally {
    source.destroy();
  }
  const [only = "", ...others] = columns ?? [];
  if (others.length === 0 && /[;\t]/.test(only)) throw broken(path, "its fields are not separated by commas");
  return columns ?? [];
}

/** The file with the new columns behind its own, empty in its rows. */
async function widen(files: FileStorage, { path, end }: Part, columns: readonly string[]): Promise<string> {
  if (end > MAX_REWRITTEN_BYTES) {
    throw broken(path, `they have new columns, and it is larger than ${MAX_REWRITTEN_BYTES} bytes`);
  }
  const text = await readText(files, path, end);
  const [, ...records] = parseCsv(text);
  return `${text.startsWith("\ufeff") ? "\ufeff" : ""}${toCsv([columns, ...pad(records, columns)])}`;
}

function broken(path: string, why: string): PawlError {
  return new PawlError("CSV_BROKEN", { message: `Rows cannot be added to "${path}": ${why}.` });
}

/** A column whose name was guarded when the file began is still that column. */
function nameOf(column: string, { columns }: Rows): string {
  return columns.find((name) => name === column || guardFormula(name) === column) ?? column;
}

function unknownTo(columns: readonly string[], rows: Rows): readonly string[] {
  return rows.columns.filter((name) => !columns.includes(name) && !columns.includes(guardFormula(name)));
}

/** The last line may lack its end. */
async function endOfLine(files: FileStorage, { path, end }: Part): Promise<string> {
  const [last] = await files.readRange(path, { from: Math.max(0, end - 1), to: end });
  return last === undefined || last === 0x0a || last === 0x0d ? "" : "\r\n";
}

async function readText(files: FileStorage, path: string, to: number): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await files.readRange(path, { from: 0, to }));
}
