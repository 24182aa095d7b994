import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { Json } from "../../../core/json.ts";
import { fromStored, type Grant, toStored } from "../../../core/trust/grant.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** How a field of a record is stored in its column. A field that is not there is NULL. */
export interface Column {
  /** Absent: the field's name in snake case. */
  readonly name?: string;
  /** Long values are written, and read only by a query of their own. */
  readonly isLong?: true;
  toSql(value: unknown): SQLInputValue;
  fromSql(value: SQLOutputValue): unknown;
}

/** A number or a text. */
export const plain: Column = { toSql: (value) => value as SQLInputValue, fromSql: (value) => value };

export const flag: Column = { toSql: Number, fromSql: (value) => value === 1 };

/** A flag that is true or not there. */
export const trueOrAbsent: Column = { toSql: Number, fromSql: (value) => (value === 1 ? true : undefined) };

export const json: Column = { toSql: (value) => JSON.stringify(value), fromSql: (value) => JSON.parse(String(value)) };

export const grant: Column = {
  toSql: (value) => JSON.stringify(toStored(value as Grant)),
  fromSql: (value) => fromStored(JSON.parse(String(value)) as Json),
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
  readonly #database: ServiceDatabase;
  readonly #name: string;
  readonly #columns: readonly NamedColumn[];
  readonly #select: string;

  constructor(database: ServiceDatabase, name: string, columns: { readonly [Field in keyof Item]-?: Column }) {
    this.#database = database;
    this.#name = name;
    this.#columns = Object.entries<Column>(columns).map(([field, column]) => ({
      ...column,
      field,
      name: column.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    }));
    const read = this.#columns.filter(({ isLong }) => isLong !== true).map((column) => column.name);
    this.#select = `SELECT ${read.join(", ")} FROM ${name}`;
  }

  find(rest: string, ...parameters: readonly SQLInputValue[]): Item | undefined {
    const row = this.#database.get<Row>(`${this.#select} ${rest}`, ...parameters);
    return row === undefined ? undefined : this.#toItem(row);
  }

  list(rest: string, ...parameters: readonly SQLInputValue[]): readonly Item[] {
    return this.#database.all<Row>(`${this.#select} ${rest}`, ...parameters).map((row) => this.#toItem(row));
  }

  /** A field that is not given gets its column's default. False: `onConflict` has kept it out. */
  insert(item: Changes<Item>, onConflict = ""): boolean {
    const given = this.#given(item);
    const names = given.map(({ name }) => name).join(", ");
    const text = `INSERT INTO ${this.#name} (${names}) VALUES (${given.map(() => "?").join(", ")}) ${onConflict}`;
    return this.#database.run(text, ...given.map(({ value }) => value)) === 1;
  }

  /** `null` clears a field, `undefined` leaves it. Returns how many records have changed. */
  update(changes: Changes<Item>, where: string, ...parameters: readonly SQLInputValue[]): number {
    const given = this.#given(changes);
    const set = given.map(({ name }) => `${name} = ?`).join(", ");
    const values = given.map(({ value }) => value);
    return this.#database.run(`UPDATE ${this.#name} SET ${set} WHERE ${where}`, ...values, ...parameters);
  }

  #given(item: Changes<Item>): readonly { readonly name: string; readonly value: SQLInputValue }[] {
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

type Row = Readonly<Record<string, SQLOutputValue>>;
