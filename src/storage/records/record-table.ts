import { parseExact, writeExact } from "../../core/exact-json.ts";
import { fromStored, type Grant, toStored } from "../../core/trust/grant.ts";
import type { Sql, SqlValue } from "../sql/sql-database.ts";

/** How a field of a record is stored in its column. A field that is not there is NULL. */
export interface Column {
  /** Absent: the field's name in snake case. */
  readonly name?: string;
  /** Long values are written, and read only by a query of their own. */
  readonly isLong?: true;
  /** The type of a column that the released tables lack: it is added to them when a database is opened. */
  readonly added?: "TEXT" | "BIGINT";
  toSql(value: unknown): SqlValue;
  fromSql(value: SqlValue): unknown;
}

/** A number or a text. */
export const plain: Column = { toSql: (value) => value as SqlValue, fromSql: (value) => value };

export const flag: Column = { toSql: Number, fromSql: (value) => value === 1 };

/** A flag that is true or not there. */
export const trueOrAbsent: Column = { toSql: Number, fromSql: (value) => (value === 1 ? true : undefined) };

export const json: Column = { toSql: (value) => writeExact(value), fromSql: (value) => parseExact(String(value)) };

export const grant: Column = {
  toSql: (value) => writeExact(toStored(value as Grant)),
  fromSql: (value) => fromStored(parseExact(String(value))),
};

/** A list of texts without blanks. */
export const words: Column = {
  toSql: (value) => (value as readonly string[]).join(" "),
  fromSql: (value) => String(value).split(" "),
};

/** A text that is empty where the field is not there, for columns of a primary key. */
export const emptyIfAbsent: Column = { ...plain, fromSql: (value) => (value === "" ? undefined : value) };

type Changes<Item> = { readonly [Field in keyof Item]?: Item[Field] | null | undefined };

interface NamedColumn extends Column {
  readonly field: string;
  readonly name: string;
}

/**
 * Records of one type in one table: the fields and their columns are described once, and reading, inserting and changing
 * follow from that. `rest` and `where` are SQL of ours, never text that somebody sent.
 */
export class RecordTable<Item extends object> {
  readonly #name: string;
  readonly #columns: readonly NamedColumn[];
  readonly #select: string;

  constructor(name: string, columns: { readonly [Field in keyof Item]-?: Column }) {
    this.#name = name;
    this.#columns = Object.entries<Column>(columns).map(([field, column]) => ({
      ...column,
      field,
      name: column.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    }));
    const read = this.#columns.filter(({ isLong }) => isLong !== true).map((column) => quote(column.name));
    this.#select = `SELECT ${read.join(", ")} FROM ${name}`;
  }

  /** What the released tables lack, in the SQL of both databases. */
  addedColumns(): readonly { readonly name: string; readonly sql: string }[] {
    return this.#columns.flatMap(({ name, added }) =>
      added === undefined
        ? []
        : [{ name: `${this.#name}.${name}`, sql: `ALTER TABLE ${this.#name} ADD COLUMN ${quote(name)} ${added}` }],
    );
  }

  async find(sql: Sql, rest: string, ...parameters: readonly SqlValue[]): Promise<Item | undefined> {
    const row = await sql.get<Row>(`${this.#select} ${rest}`, ...parameters);
    return row === undefined ? undefined : this.#toItem(row);
  }

  async list(sql: Sql, rest: string, ...parameters: readonly SqlValue[]): Promise<readonly Item[]> {
    const rows = await sql.all<Row>(`${this.#select} ${rest}`, ...parameters);
    return rows.map((row) => this.#toItem(row));
  }

  /** A field that is not given gets its column's default. False: `onConflict` has kept it out. */
  async insert(sql: Sql, item: Changes<Item>, onConflict = ""): Promise<boolean> {
    const given = this.#given(item);
    const names = given.map(({ name }) => quote(name)).join(", ");
    const text = `INSERT INTO ${this.#name} (${names}) VALUES (${placesFor(given)}) ${onConflict}`;
    return (await sql.run(text, ...given.map(({ value }) => value))) === 1;
  }

  /** `null` clears a field, `undefined` leaves it. Returns how many records have changed. */
  async update(sql: Sql, changes: Changes<Item>, where: string, ...parameters: readonly SqlValue[]): Promise<number> {
    const given = this.#given(changes);
    const set = given.map(({ name }) => `${quote(name)} = ?`).join(", ");
    const values = given.map(({ value }) => value);
    return sql.run(`UPDATE ${this.#name} SET ${set} WHERE ${where}`, ...values, ...parameters);
  }

  #given(item: Changes<Item>): readonly { readonly name: string; readonly value: SqlValue }[] {
    const values = item as Readonly<Record<string, unknown>>;
    return this.#columns.flatMap(({ field, name, toSql }) => {
      const value = values[field];
      return value === undefined ? [] : [{ name, value: value === null ? null : toSql(value) }];
    });
  }

  #toItem(row: Row): Item {
    const item: Record<string, unknown> = {};
    for (const { field, name, fromSql } of this.#columns) {
      const value = row[name] ?? undefined;
      const read = value === undefined ? undefined : fromSql(value);
      if (read !== undefined) item[field] = read;
    }
    return item as Item;
  }
}

type Row = Readonly<Record<string, SqlValue>>;

/** A column may have the name of a word of SQL. */
function quote(name: string): string {
  return `"${name}"`;
}

/** One `?` for each. */
export function placesFor(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
