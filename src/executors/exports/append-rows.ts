import { hash } from "node:crypto";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { parseJson } from "../../core/parse-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Rows } from "./csv-rows.ts";
import { guardFormula, parseCsv, toCsv, toFields } from "./csv-text.ts";

export interface Addition {
  readonly path: string;
  /** Of the step instance that adds: what was added under it is not added again. */
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

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_KEYS = 1_000;

/**
 * Adds rows to a CSV file, once. The file is exchanged as a whole, so that no reader sees half of a row. Beside it lies
 * a note that names the addition and what the file is afterwards; it is written first. Whoever comes after a crash sees
 * by it whether the addition has happened. The caller lets one addition to a file follow the other.
 */
export async function appendRows(files: FileStorage, addition: Addition): Promise<Added> {
  const { path, key, rows } = addition;
  const notePath = `csv-additions/${hash("sha256", path).slice(0, 32)}.json`;
  const before = await readText(files, path);
  const note = readNote(await readText(files, notePath));
  const done = note.pending !== undefined && note.after === hashOf(before) ? [...note.done, note.pending] : note.done;
  const file = readFile(path, before);
  if (done.includes(key)) return { wasThere: true, columns: file.columns, newColumns: [] };
  const after = join(file, addition);
  if (Buffer.byteLength(after.text) > MAX_BYTES) {
    throw new PawlError("CSV_BROKEN", { message: `"${path}" would be larger than ${MAX_BYTES} bytes.` });
  }
  const noted = { path, done: done.slice(-MAX_KEYS), pending: key, after: hashOf(after.text) };
  await files.write(notePath, `${JSON.stringify(noted)}\n`);
  await files.write(path, after.text);
  return { wasThere: false, columns: after.columns, newColumns: before === "" ? [] : unknownTo(file.columns, rows) };
}

interface CsvFile {
  readonly text: string;
  readonly columns: readonly string[];
  readonly records: readonly (readonly string[])[];
}

function readFile(path: string, text: string): CsvFile {
  const records = parseCsv(text);
  if (records === undefined) throw broken(path, "a quote in it is never closed, or stands in the middle of a field");
  const [columns = [], ...others] = records;
  const [only = ""] = columns;
  if (columns.length === 1 && /[;\t]/.test(only)) throw broken(path, "its fields are not separated by commas");
  return { text, columns, records: others };
}

function broken(path: string, why: string): PawlError {
  return new PawlError("CSV_BROKEN", { message: `Rows cannot be added to "${path}": ${why}.` });
}

/** The columns of the file stay where they are; new ones come behind them, empty in the rows that were there. */
function join({ text, columns, records }: CsvFile, { rows, keepsFormulas }: Addition) {
  const added = unknownTo(columns, rows);
  const all = [...columns, ...added.map((column) => (keepsFormulas ? column : guardFormula(column)))];
  const names = [...columns.map((column) => nameOf(column, rows)), ...added];
  const lines = toCsv(rows.rows.map((row) => toFields(row, names, keepsFormulas)));
  if (added.length === 0) return { text: `${endLine(text)}${lines}`, columns: all };
  const padded = records.map((record) => [...record, ...all.slice(record.length).map(() => "")]);
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  return { text: `${mark}${toCsv([all, ...padded])}${lines}`, columns: all };
}

/** A column whose name was guarded when the file began is still that column. */
function nameOf(column: string, { columns }: Rows): string {
  return columns.find((name) => name === column || guardFormula(name) === column) ?? column;
}

function unknownTo(columns: readonly string[], rows: Rows): readonly string[] {
  return rows.columns.filter((name) => !columns.includes(name) && !columns.includes(guardFormula(name)));
}

function endLine(text: string): string {
  return text === "" || /[\r\n]$/.test(text) ? text : `${text}\r\n`;
}

async function readText(files: FileStorage, path: string): Promise<string> {
  const content = await files.read(path);
  return content === undefined ? "" : new TextDecoder("utf-8", { ignoreBOM: true }).decode(content);
}

interface Note {
  readonly done: readonly string[];
  /** The addition that was last begun, and the file's hash once it has happened. */
  readonly pending: string | undefined;
  readonly after: string | undefined;
}

function readNote(text: string): Note {
  const note: Json | undefined = text === "" ? undefined : parseJson(text);
  if (!isJsonObject(note)) return { done: [], pending: undefined, after: undefined };
  const { done, pending, after } = note;
  return {
    done: Array.isArray(done) ? done.filter((key) => typeof key === "string") : [],
    pending: typeof pending === "string" ? pending : undefined,
    after: typeof after === "string" ? after : undefined,
  };
}

function hashOf(text: string): string {
  return hash("sha256", text);
}
