import { parseExact, writeExact } from "../../core/exact-json.ts";
import { fromStored, type Grant, toStored } from "../../core/trust/grant.ts";
import type { Sql, SqlValue } from "../sql/sql-database.ts";

/** How a field of a record is stored in its column. */
export interface Column {
  readonly type: "TEXT" | "BIGINT" | "SERIAL";
  /** Absent: the field's name in snake case. */
  readonly name?: string;
  /** What is stored where the field is not there. Absent: it always is. */
  readonly absent?: SqlValue;
  /** What records of an earlier version have, in SQL. */
  readonly byDefault?: string;
  /** Long values are written, and read only by a query of their own. */
  readonly isLong?: true;
  /** The step that adds the column to the tables of PostgreSQL that earlier versions have made. */
  readonly added?: string;
  /** What else is stored for records of an earlier version, as statements. */
  readonly fill?: readonly string[];
  toSql(value: unknown): SqlValue;
  fromSql(value: SqlValue): unknown;
}

const plain = { toSql: (value: unknown) => value as SqlValue, fromSql: (value: SqlValue): unknown => value };

export const text = { ...plain, type: "TEXT" } as const;

export const integer = { ...plain, type: "BIGINT" } as const;

/** A number that the database gives, in the order of insertion. */
export const serial = { ...plain, type: "SERIAL" } as const;

export const flag = { ...integer, toSql: Number, fromSql: (value: SqlValue) => value === 1 } as const;

export const trueOrAbsent = {
  ...flag,
  absent: 0,
  fromSql: (value: SqlValue) => (value === 1 ? true : undefined),
} as const;

export const json = {
  ...text,
  toSql: (value: unknown) => writeExact(value),
  fromSql: (value: SqlValue) => parseExact(String(value)),
} as const;

export const grant = {
  ...text,
  toSql: (value: unknown) => writeExact(toStored(value as Grant)),
  fromSql: (value: SqlValue) => fromStored(parseExact(String(value))),
} as const;

/** A list of texts without blanks. */
export const words = {
  ...text,
  toSql: (value: unknown) => (value as readonly string[]).join(" "),
  fromSql: (value: SqlValue) => String(value).split(" "),
} as const;

/** A text that is empty where the field is not there, for columns of a primary key. */
export const emptyIfAbsent = {
  ...text,
  absent: "",
  fromSql: (value: SqlValue) => (value === "" ? undefined : value),
} as const;

/** NULL where the field is not there. */
export function optional<Stored extends Column>(column: Stored): Stored & { readonly absent: null } {
  return { ...column, absent: null };
}

/** A column for each field, which says what is stored for it if it is optional. */
type Columns<Item> = {
  readonly [Field in keyof Item]-?: Column &
    (undefined extends Item[Field] ? { readonly absent: SqlValue } : { readonly absent?: never });
};

interface Keys<Item> {
  /** Absent: the field that is `serial`. */
  readonly key?: readonly (keyof Item)[];
  readonly unique?: readonly (keyof Item)[];
  /** By name, in SQL. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** Rows are short and lie in the order of their keys, where a database can do that. */
  readonly isByKey?: true;
  /** The step that adds the table to a database of PostgreSQL that an earlier version has made. */
  readonly added?: string;
}

/** What databases say differently. */
export interface TableDialect {
  readonly types: Readonly<Record<Column["type"], string>>;
  /** Behind a table whose rows lie in the order of their keys. */
  readonly byKey: string;
}

type Changes<Item> = { readonly [Field in keyof Item]?: Item[Field] | null | undefined };

/** Equal values; `null`: the field is not there. One that is not given may have any value. */
type Filter<Item> = { readonly [Field in keyof Item]?: Exclude<Item[Field], undefined> | null };

interface NamedColumn extends Column {
  readonly field: string;
  readonly name: string;
}

/** A table to those who make it. */
export type Table = Pick<RecordTable<never>, "create" | "complete" | "findUnknown" | "addingSteps" | "add">;

/**
 * Records of one type in one table: the fields and their columns are described once, and the table, reading, inserting and changing
 * follow from that. `rest` is SQL of ours, never text that somebody sent.
 */
export class RecordTable<Item extends object> {
  readonly #name: string;
  readonly #columns: readonly NamedColumn[];
  readonly #keys: Keys<Item>;
  readonly #select: string;

  constructor(name: string, columns: Columns<Item>, keys: Keys<Item> = {}) {
    this.#name = name;
    this.#keys = keys;
    this.#columns = Object.entries<Column>(columns).map(([field, column]) => ({
      ...column,
      field,
      name: column.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    }));
    const read = this.#columns.filter(({ isLong }) => isLong !== true).map((column) => quote(column.name));
    this.#select = `SELECT ${read.join(", ")} FROM ${name}`;
  }

  /** What makes the table and its indexes where they are missing, in an empty database. */
  create(dialect: TableDialect): string {
    return [this.#createTable(dialect), ...this.#createIndexes()].join(";\n");
  }

  /** What brings the table up to date. `there`: names of indexes, and of columns as `table.column`. Undefined: it is. */
  complete(dialect: TableDialect, there: ReadonlySet<string>): string | undefined {
    const missing = this.#columns.filter(({ name }) => !there.has(`${this.#name}.${name}`));
    if (missing.length === this.#columns.length) return this.create(dialect);
    const indexes = Object.keys(this.#keys.indexes ?? {});
    if (missing.length === 0 && indexes.every((name) => there.has(name))) return undefined;
    const added = missing.flatMap(({ fill, ...column }) => [
      `ALTER TABLE ${this.#name} ADD COLUMN ${toDefinition(column, dialect)}`,
      ...(fill ?? []),
    ]);
    return [...added, ...this.#createIndexes()].join(";\n");
  }

  /** A column that a newer version has added. */
  findUnknown(there: ReadonlySet<string>): string | undefined {
    const known = new Set(this.#columns.map(({ name }) => `${this.#name}.${name}`));
    return [...there].find((name) => name.startsWith(`${this.#name}.`) && !known.has(name));
  }

  /** The steps after the first one that have added something to the table. */
  addingSteps(): readonly string[] {
    return [this.#keys.added, ...this.#columns.map(({ added }) => added)].filter((step) => step !== undefined);
  }

  /** What a step adds to the table, where that is missing. */
  add(step: string, dialect: TableDialect): readonly string[] {
    if (!this.addingSteps().includes(step)) return [];
    const added = this.#columns
      .filter((column) => column.added === step)
      .map((column) => `ALTER TABLE ${this.#name} ADD COLUMN IF NOT EXISTS ${toDefinition(column, dialect)}`);
    return [this.#createTable(dialect), ...added, ...this.#createIndexes()];
  }

  #createTable(dialect: TableDialect): string {
    const { key, unique, isByKey } = this.#keys;
    const parts = [
      ...this.#columns.map((column) => toDefinition(column, dialect)),
      ...(key === undefined ? [] : [`PRIMARY KEY (${this.#namesOf(key)})`]),
      ...(unique === undefined ? [] : [`UNIQUE (${this.#namesOf(unique)})`]),
    ];
    return `CREATE TABLE IF NOT EXISTS ${this.#name} (${parts.join(", ")})${isByKey ? dialect.byKey : ""}`;
  }

  #createIndexes(): readonly string[] {
    return Object.entries(this.#keys.indexes ?? {}).map(
      ([name, rest]) => `CREATE INDEX IF NOT EXISTS ${name} ON ${this.#name} ${rest}`,
    );
  }

  async find(sql: Sql, filter: Filter<Item>, rest = "", ...parameters: readonly SqlValue[]): Promise<Item | undefined> {
    const { where, values } = this.#toWhere(filter);
    const row = await sql.get<Row>(`${this.#select} ${where} ${rest}`, ...values, ...parameters);
    return row === undefined ? undefined : this.#toItem(row);
  }

  async list(sql: Sql, filter: Filter<Item>, rest = "", ...parameters: readonly SqlValue[]): Promise<readonly Item[]> {
    const { where, values } = this.#toWhere(filter);
    const rows = await sql.all<Row>(`${this.#select} ${where} ${rest}`, ...values, ...parameters);
    return rows.map((row) => this.#toItem(row));
  }

  async count(sql: Sql, filter: Filter<Item>, rest = "", ...parameters: readonly SqlValue[]): Promise<number> {
    const { where, values } = this.#toWhere(filter);
    const counted = `SELECT count(*) AS n FROM ${this.#name} ${where} ${rest}`;
    return (await sql.get<{ readonly n: number }>(counted, ...values, ...parameters))?.n ?? 0;
  }

  /** A field that is always there and is not given gets its column's default. False: `onConflict` has kept it out. */
  async insert(sql: Sql, item: Changes<Item>, onConflict = ""): Promise<boolean> {
    const given = this.#given(item, (absent) => absent !== null);
    const names = given.map(({ name }) => quote(name)).join(", ");
    const insert = `INSERT INTO ${this.#name} (${names}) VALUES (${placesFor(given)}) ${onConflict}`;
    return (await sql.run(insert, ...given.map(({ value }) => value))) === 1;
  }

  /** Inserts a record, or replaces the one with its key but for the fields that it `keeps`. */
  async put(sql: Sql, item: Changes<Item>, keeps: readonly (keyof Item)[] = []): Promise<void> {
    const { key = [] } = this.#keys;
    const kept: readonly PropertyKey[] = [...key, ...keeps];
    const replaced = this.#columns.filter(({ field }) => !kept.includes(field)).map(({ name }) => quote(name));
    const set = replaced.map((name) => `${name} = excluded.${name}`).join(", ");
    await this.insert(sql, item, `ON CONFLICT (${this.#namesOf(key)}) DO UPDATE SET ${set}`);
  }

  /** `null` clears a field, `undefined` leaves it. Returns how many records have changed. */
  async update(
    sql: Sql,
    changes: Changes<Item>,
    filter: Filter<Item>,
    rest = "",
    ...parameters: readonly SqlValue[]
  ): Promise<number> {
    const given = this.#given(changes);
    const set = given.map(({ name }) => `${quote(name)} = ?`).join(", ");
    const { where, values } = this.#toWhere(filter);
    const changed = `UPDATE ${this.#name} SET ${set} ${where} ${rest}`;
    return sql.run(changed, ...given.map(({ value }) => value), ...values, ...parameters);
  }

  /** Returns how many records there were. */
  async remove(sql: Sql, filter: Filter<Item>, rest = "", ...parameters: readonly SqlValue[]): Promise<number> {
    const { where, values } = this.#toWhere(filter);
    return sql.run(`DELETE FROM ${this.#name} ${where} ${rest}`, ...values, ...parameters);
  }

  #toWhere(filter: Filter<Item>): { readonly where: string; readonly values: readonly SqlValue[] } {
    const given = this.#given(filter);
    const conditions = given.map(({ name, value }) => `${quote(name)} ${value === null ? "IS NULL" : "= ?"}`);
    return {
      where: given.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`,
      values: given.flatMap(({ value }) => (value === null ? [] : [value])),
    };
  }

  #namesOf(fields: readonly (keyof Item)[]): string {
    const names = fields.flatMap((each) => this.#columns.filter(({ field }) => field === each));
    return names.map(({ name }) => quote(name)).join(", ");
  }

  /** `isStored`: whether a field that is not given is stored as absent. */
  #given(item: Changes<Item>, isStored = (_: SqlValue): boolean => false): readonly Given[] {
    const values = item as Readonly<Record<string, unknown>>;
    return this.#columns.flatMap(({ field, name, absent = null, toSql }) => {
      const value = values[field] === undefined && isStored(absent) ? null : values[field];
      return value === undefined ? [] : [{ name, value: value === null ? absent : toSql(value) }];
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

interface Given {
  readonly name: string;
  readonly value: SqlValue;
}

type Row = Readonly<Record<string, SqlValue>>;

function toDefinition({ name, type, absent, byDefault }: NamedColumn, { types }: TableDialect): string {
  const needed = absent === null || type === "SERIAL" ? "" : " NOT NULL";
  return `${quote(name)} ${types[type]}${needed}${byDefault === undefined ? "" : ` DEFAULT ${byDefault}`}`;
}

/** A column may have the name of a word of SQL. */
function quote(name: string): string {
  return `"${name}"`;
}

/** One `?` for each. */
export function placesFor(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
