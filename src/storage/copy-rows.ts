import { PawlError } from "../core/errors/pawl-error.ts";
import type { SqlValue } from "./sql/sql-database.ts";

export type CopiedRow = Readonly<Record<string, SqlValue>>;

/** What belongs to processes and to one database. `commits` are copied as the order that they stand for. */
const NOT_COPIED =
  /^(steps|commits|workers|inbox|pool_\w+|sqlite_\w+)\.|^runs\.(epoch|owner|lost_at)$|^exchanges_before_tenants\./;

/** Runs and records of one place, inside one transaction. */
export interface CopiedData {
  /** As `table.column`, from the schema. */
  columns(): Promise<readonly string[]>;
  /** Without an answer for a table that is empty. */
  read(table: string, columns: readonly string[]): AsyncIterable<readonly CopiedRow[]>;
  insert(table: string, columns: readonly string[], rows: readonly CopiedRow[]): Promise<void>;
  countCommits(): Promise<number>;
  /** The order of all runs: run, last sequence number before, number of events, again and again for each commit. */
  readCommits(): AsyncIterable<readonly number[]>;
  /** `count`: how many there are. */
  insertCommits(commits: AsyncIterable<readonly number[]>, count: number): Promise<void>;
}

export interface CopiedCounts {
  readonly runs: number;
  readonly events: number;
  /** Schedules, keys, deliveries and all else that is no run. */
  readonly records: number;
}

export async function findTables(data: Pick<CopiedData, "columns">): Promise<ReadonlyMap<string, readonly string[]>> {
  const tables = new Map<string, string[]>();
  for (const name of await data.columns()) {
    const [table = "", column = ""] = name.split(".");
    if (!NOT_COPIED.test(name)) tables.set(table, [...(tables.get(table) ?? []), column]);
  }
  return tables;
}

/**
 * Copies all rows, table by table. `seen` is called with each text. Throws `DATA_EXISTS` where the target has a row, before anything is
 * written.
 */
export async function copyRows(
  source: CopiedData,
  target: CopiedData & { readonly place: string },
  seen: (text: string) => void,
): Promise<CopiedCounts> {
  for (const [table, columns] of await findTables(target))
    for await (const _ of target.read(table, columns))
      throw new PawlError("DATA_EXISTS", {
        message: `${target.place} is not empty: it has rows in \`${table}\`. Nothing was copied.`,
        remedy: "Copy into an empty database, or into a folder that `--data DIR` names and that is not there.",
      });
  const counts: Record<string, number> = {};
  let all = 0;
  for (const [table, columns] of await findTables(source))
    for await (const rows of source.read(table, columns)) {
      await target.insert(table, columns, rows);
      for (const row of rows) for (const value of Object.values(row)) if (typeof value === "string") seen(value);
      counts[table] = (counts[table] ?? 0) + rows.length;
      all += rows.length;
    }
  await target.insertCommits(source.readCommits(), await source.countCommits());
  const { runs = 0, events = 0 } = counts;
  return { runs, events, records: all - runs - events };
}

export function quote(name: string): string {
  return `"${name}"`;
}
