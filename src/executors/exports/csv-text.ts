import { parse } from "csv-parse/sync";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

/** Lines as RFC 4180 has them: CRLF, quotes where a field needs them, quotes in it twice. */
export function toCsv(records: readonly (readonly string[])[]): string {
  return records.map((fields) => `${toLine(fields)}\r\n`).join("");
}

function toLine(fields: readonly string[]): string {
  // An empty line would be no record at all.
  return fields.length === 1 && fields[0] === "" ? '""' : fields.map(quote).join(",");
}

function quote(field: string): string {
  return /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

/** A row's fields in the order of the columns: texts as they are, lists and objects as JSON, nothing for null. */
export function toFields(row: JsonObject, columns: readonly string[], keepsFormulas: boolean): readonly string[] {
  return columns.map((column) => {
    const text = toText(Object.hasOwn(row, column) ? row[column] : null);
    return typeof row[column] === "string" && !keepsFormulas ? guardFormula(text) : text;
  });
}

function toText(value: Json | undefined): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string"
    ? value.toWellFormed()
    : typeof value === "object"
      ? writeExact(value)
      : String(value);
}

/** Puts an apostrophe before text that a spreadsheet would run as a formula. Numbers and telephone numbers stay as they are. */
export function guardFormula(text: string): string {
  if (!/^[\s]*[=+\-@\uff0b\uff0d\uff1d\uff20|%]/.test(text) && !/^[\t\r\n]/.test(text)) return text;
  return /^[+-]?[\d\s().,/-]+$/.test(text) && /^[+-]?[\d(]/.test(text) ? text : `'${text}`;
}

/** Lines end as any program ends them, also mixed in one file. */
export const CSV_FORMAT = { bom: true, record_delimiter: ["\r\n", "\n", "\r"], relax_column_count: true };

/** Throws a `CsvError` where it is no CSV with commas, for example since a quote is never closed. */
export function parseCsv(text: string): readonly (readonly string[])[] {
  return parse(text, CSV_FORMAT);
}

export interface Rows {
  readonly rows: readonly JsonObject[];
  /** By their first appearance. */
  readonly columns: readonly string[];
}

interface RowsOptions {
  /** The output is the list of what a fan-out's items have brought. */
  readonly isFanOut: boolean;
  /** The field that has the rows, where they are not all of an output. */
  readonly field: string | undefined;
}

/** The rows of an output: one per entry of a list, those of each item of a fan-out, else one. A plain value is the column `value`. */
export function toRows(output: Json, { isFanOut, field }: RowsOptions): Rows {
  const outputs = isFanOut && Array.isArray(output) ? output : [output];
  const rows = outputs.flatMap((one) => toEntries(pick(one, field))).map(toRow);
  return { rows, columns: [...new Set(rows.flatMap((row) => Object.keys(row)))] };
}

function pick(output: Json, field: string | undefined): Json {
  if (field === undefined) return output;
  return isJsonObject(output) && Object.hasOwn(output, field) ? (output[field] ?? null) : null;
}

function toEntries(output: Json): readonly Json[] {
  return (Array.isArray(output) ? output : [output]).filter((entry) => entry !== null);
}

function toRow(entry: Json): JsonObject {
  return isJsonObject(entry) ? entry : { value: entry };
}
