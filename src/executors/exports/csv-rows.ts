import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";

export interface Rows {
  readonly rows: readonly JsonObject[];
  /** By their first appearance. */
  readonly columns: readonly string[];
}

export interface RowsOptions {
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
