import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { type Commit, readCommit } from "../commit-log.ts";
import * as sql from "../sql/journal-statements.ts";
import { MOVED_TABLES, type MovedData, type MovedPart, quote } from "../sql/moved-tables.ts";
import { rangeOf, SEQ_RANGE } from "../sql/run-row.ts";
import type { Sql } from "../sql/sql-database.ts";
import { openConversationFile } from "./conversation-tables.ts";
import { openDatabase } from "./open-database.ts";
import { openServiceFile } from "./service-tables.ts";
import { SqliteDatabase } from "./sqlite-database.ts";
import { toReadFailure } from "./storage-failure.ts";

const FILES = [
  ["journal", "pawl.db"],
  ["service", "service.db"],
  ["conversations", "conversations.db"],
] as const;

/**
 * The data of a folder, for who owns it, in one transaction for each of its files. Files that are missing are made. Throws `JOURNAL_IO`,
 * `JOURNAL_FULL`, `JOURNAL_DAMAGED`, `JOURNAL_NEWER`.
 */
export async function withSqliteData<T>(folder: string, work: (data: MovedData) => Promise<T>): Promise<T> {
  const fileOf = (name: string) => ({ path: join(folder, name), durability: "process" as const });
  openDatabase(fileOf("pawl.db")).close();
  const opened = [
    SqliteDatabase.open(fileOf("pawl.db"), () => undefined),
    openServiceFile(fileOf("service.db")),
    openConversationFile(fileOf("conversations.db")),
  ] as const;
  const [journal, service, conversations] = opened;
  try {
    return await journal.together((ofJournal) =>
      service.together((ofService) =>
        conversations.together((ofConversations) =>
          work(dataIn({ journal: ofJournal, service: ofService, conversations: ofConversations })),
        ),
      ),
    );
  } finally {
    for (const database of opened) await database.close();
  }
}

type Places = Readonly<Record<Parameters<MovedData["sql"]>[0], Sql>>;

function dataIn(places: Places): MovedData {
  return {
    sql: (place) => places[place],
    async insert({ place, name, columns }, rows) {
      const names = columns.map((column) => quote(column.name)).join(", ");
      const text = `INSERT INTO ${quote(name)} (${names}) VALUES (${columns.map(() => "?").join(", ")})`;
      try {
        for (const row of rows) await places[place].run(text, ...row);
      } catch (error) {
        throw toRefusal(error, name);
      }
    },
    readOrder: () => readOrder(places.journal),
    async insertOrder(parts) {
      const entries = writeExact([0, ...parts.flatMap(({ run, afterSeq, count }) => [run, afterSeq, count])]);
      await places.journal.run(sql.INSERT_COMMIT, Date.now(), entries);
    },
    finish: async () => undefined,
  };
}

const SQLITE_CONSTRAINT = 19;

/** What no database of ours has said: two rows of one key, or a value that is missing. */
function toRefusal(error: unknown, name: string): unknown {
  const isOfRow = error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === SQLITE_CONSTRAINT;
  if (!isOfRow) return error;
  const message = `A row of \`${name}\` cannot be stored: ${error.message}.`;
  return new PawlError("EXPORT_INVALID", { message, cause: error });
}

const COMMITS_AT_ONCE = 64;

/** A commit says how many events have continued the last part before it. For the last one of all its run says that. */
async function* readOrder(journal: Sql): AsyncGenerator<MovedPart> {
  let open: MovedPart | undefined;
  for (let no = 0; ; ) {
    const commits = await journal.all<Commit>(sql.SELECT_COMMITS, no, COMMITS_AT_ONCE);
    for (const commit of commits) {
      const { wentOn, parts } = readCommit(commit);
      if (open !== undefined) yield { ...open, count: open.count + wentOn };
      yield* parts.slice(0, -1);
      open = parts.at(-1);
      no = commit.no + 1;
    }
    if (commits.length < COMMITS_AT_ONCE) break;
  }
  if (open === undefined) return;
  const last = await journal.get<{ readonly id: number | null }>(sql.SELECT_LAST_EVENT, ...rangeOf(open.run));
  const lastSeq = typeof last?.id === "number" ? last.id - open.run * SEQ_RANGE : 0;
  yield { ...open, count: Math.max(open.count, lastSeq - open.afterSeq) };
}

/** Whether anything was recorded in a folder. */
export function hasRecords(folder: string): boolean {
  return FILES.some(([place, name]) => {
    const path = join(folder, name);
    if (!existsSync(path)) return false;
    try {
      const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
      try {
        const known = new Set(
          database
            .prepare("SELECT name FROM sqlite_schema")
            .all()
            .map((row) => row["name"]),
        );
        const tables = MOVED_TABLES.filter((table) => table.place === place && known.has(table.name));
        return tables.some(
          (table) => database.prepare(`SELECT 1 FROM ${quote(table.name)} LIMIT 1`).get() !== undefined,
        );
      } finally {
        database.close();
      }
    } catch (error) {
      throw toReadFailure(error, path);
    }
  });
}
