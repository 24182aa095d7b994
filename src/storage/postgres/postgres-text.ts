import { writeExact } from "../../core/exact-json.ts";
import type { SqlValue } from "../sql/sql-database.ts";

/** No text of PostgreSQL holds a NUL. It is written as this character, which stands for nothing in Unicode, and a digit. */
const ESCAPE = "\u{10FFFE}";

export function toPostgres(value: SqlValue): SqlValue {
  if (typeof value !== "string" || !(value.includes("\0") || value.includes(ESCAPE))) return value;
  return value.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll("\0", `${ESCAPE}0`);
}

export function fromPostgres(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}0`, "\0").replaceAll(`${ESCAPE}1`, ESCAPE);
}

/** The same character in JSON, where what is written as a parameter has nothing to escape. */
const ESCAPE_IN_JSON = "\\udbff\\udffe";

/** Rows as JSON that the server reads, whose texts are then as `toPostgres` writes them. */
export function toPostgresJson(rows: object): string {
  const text = writeExact(rows);
  if (!text.includes("\\u0000") && !text.includes(ESCAPE)) return text;
  const escaped = writeExact(rows, (_, value: unknown) => (typeof value === "string" ? toPostgres(value) : value));
  return escaped.replaceAll(ESCAPE, ESCAPE_IN_JSON);
}

/** Whole numbers as a parameter of the type `bigint[]`. */
export function toPostgresArray(numbers: readonly number[]): string {
  return `{${numbers.join(",")}}`;
}

/** `?` and `?3` as PostgreSQL counts them. No text of ours has a question mark in a literal. */
export function toNumbered(text: string): string {
  let last = 0;
  return text.replaceAll(/\?(\d*)/g, (_, number: string) => {
    last = number === "" ? last + 1 : Number(number);
    return `$${last}`;
  });
}
