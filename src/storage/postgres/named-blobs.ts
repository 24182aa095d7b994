import { MOVED_TABLES, quote } from "../sql/moved-tables.ts";
import { SEQ_RANGE } from "../sql/run-row.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";

/** A statement that reads for longer would be taken for one that gets no answer. */
const RUNS_AT_ONCE = 1_000;

interface NamedRow {
  readonly hash: string;
}

/** Takes the hashes away that a text of the database refers to: a reference is `~` and the hash, wherever it stands. */
export async function dropNamedInDatabase(database: SqlDatabase, hashes: Map<string, unknown>): Promise<void> {
  const drop = (rows: readonly NamedRow[]) => {
    for (const { hash } of rows) hashes.delete(hash);
  };
  for (const { name, columns } of MOVED_TABLES) {
    const texts = columns.filter(({ isNumber }) => !isNumber).map((column) => column.name);
    const text = selectNamed(name, texts);
    if (name !== "events") drop(await database.all<NamedRow>(text));
    else
      for await (const range of eventRanges(database))
        drop(await database.all<NamedRow>(`${text} AND id > ? AND id <= ?`, ...range));
  }
  drop(await database.all<NamedRow>(selectNamed("inbox", ["body"])));
}

function selectNamed(table: string, columns: readonly string[]): string {
  const text = `concat_ws(' ', ${columns.map(quote).join(", ")})`;
  return `SELECT DISTINCT named[1] AS hash FROM ${quote(table)}, regexp_matches(${text}, '~([0-9a-f]{64})', 'g') AS named
    WHERE strpos(${text}, '~') > 0`;
}

/** Ranges of keys that hold all events which were there when the last range was asked for. */
async function* eventRanges(database: SqlDatabase): AsyncGenerator<readonly [number, number]> {
  for (let first = 0; ; first += RUNS_AT_ONCE) {
    const from = first * SEQ_RANGE;
    const next = await database.get<{ readonly id: number | null }>(
      "SELECT min(id) AS id FROM events WHERE id > ?",
      from,
    );
    if (typeof next?.id !== "number") return;
    first = Math.max(first, Math.floor(next.id / SEQ_RANGE));
    yield [from, (first + RUNS_AT_ONCE) * SEQ_RANGE];
  }
}
