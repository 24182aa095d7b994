import { SEQ_RANGE } from "../sql/run-row.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";

/** A statement that reads for longer would be taken for one that gets no answer. */
const RUNS_AT_ONCE = 1_000;

const TEXTS = `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
  WHERE table_schema = current_schema() AND data_type = 'text' GROUP BY 1`;

interface NamedRow {
  readonly hash: string;
}

/** Takes the hashes away that a text of the database refers to: a reference is `~` and the hash, wherever it stands. */
export async function dropNamedInDatabase(database: SqlDatabase, hashes: Map<string, unknown>): Promise<void> {
  const drop = (rows: readonly NamedRow[]) => {
    for (const { hash } of rows) hashes.delete(hash);
  };
  for (const { name, columns } of await database.all<{ readonly name: string; readonly columns: string }>(TEXTS)) {
    const joined = `concat_ws(' ', ${columns})`;
    const text = `SELECT DISTINCT named[1] AS hash FROM "${name}", regexp_matches(${joined}, '~([0-9a-f]{64})', 'g') AS named
      WHERE strpos(${joined}, '~') > 0`;
    if (name !== "events") drop(await database.all<NamedRow>(text));
    else
      for await (const range of eventRanges(database))
        drop(await database.all<NamedRow>(`${text} AND id > ? AND id <= ?`, ...range));
  }
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
