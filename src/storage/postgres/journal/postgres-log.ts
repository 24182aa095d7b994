import { parseExact } from "../../../core/exact-json.ts";
import type { StoredEvent } from "../../../core/history/event-codec.ts";
import type {
  EventRow,
  LoggedEvent,
  LoggedRun,
  LogPage,
  LogPosition,
  LogQuery,
  RunNo,
} from "../../../ports/journal.ts";
import { cutPart } from "../../commit-log.ts";
import { SEQ_RANGE } from "../../sql/run-row.ts";
import type { SqlDatabase } from "../../sql/sql-database.ts";
import { toPostgresArray } from "../postgres-text.ts";

interface CommitRow {
  readonly commit: number;
  readonly at: number;
  /** Run, last number before and number of events, again and again. */
  readonly entries: string;
}

interface Part {
  readonly run: RunNo;
  readonly from: number;
  readonly count: number;
  readonly positionOf: (nth: number) => LogPosition;
}

type LoggedRow = StoredEvent & { readonly id: number; readonly cost_micro: number | null };
type RunRow = { readonly no: number; readonly tenantId: string | null } & Partial<Pick<LoggedRun, "id" | "workflow">>;

/** Commits are looked at so many at a time. */
const COMMITS = 64;

/**
 * A transaction has its number before it writes, and others may end before it. Below the oldest one of this database that has not
 * ended nothing can come in any more. Asked for in a statement of its own: what has ended by then, the next one sees. (The
 * server's own `pg_snapshot_xmin` would wait for the transactions of all its databases.)
 */
const SELECT_BOUND = `WITH now AS (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next),
  open AS (
    SELECT ((next >> 32) << 32) + backend_xid::text::bigint AS xid FROM now, pg_stat_activity
    WHERE datname = current_database() AND backend_xid IS NOT NULL
  )
  SELECT least(next, (SELECT min(CASE WHEN xid > next THEN xid - (1::bigint << 32) ELSE xid END) FROM open)) AS bound FROM now`;

const COLUMNS = 'SELECT tx AS "commit", at, entries FROM commits';
const SELECT_COMMITS = `${COLUMNS} WHERE tx >= ? AND tx < ? ORDER BY tx LIMIT ?`;
const SELECT_NEWEST = `${COLUMNS} WHERE tx < ? AND entries <> '[]' ORDER BY tx DESC LIMIT 1`;

const SELECT_PARTS = `SELECT id, type, path, attempt, at, cost_micro, body FROM events
  JOIN unnest(?::bigint[], ?::bigint[]) AS part (first, last) ON events.id >= part.first AND events.id <= part.last`;

const SELECT_RUNS = `SELECT no, id, workflow_name AS "workflow", tenant_id AS "tenantId" FROM runs WHERE no = ANY(?::bigint[])
  UNION ALL SELECT no, NULL, NULL, tenant_id FROM deleted_runs WHERE no = ANY(?::bigint[])`;

/** The order of all runs in PostgreSQL, by transactions. */
export class PostgresLog {
  readonly #database: SqlDatabase;
  readonly #toEvent: (row: LoggedRow) => EventRow;

  constructor(database: SqlDatabase, toEvent: (row: LoggedRow) => EventRow) {
    this.#database = database;
    this.#toEvent = toEvent;
  }

  async find(commit?: number): Promise<LogPosition | undefined> {
    const row =
      commit === undefined
        ? await this.#database.get<CommitRow>(SELECT_NEWEST, await this.#findBound())
        : (await this.#database.all<CommitRow>(SELECT_COMMITS, commit, await this.#findBound(), 1))[0];
    if (row === undefined || (commit !== undefined && row.commit !== commit)) return undefined;
    return { commit: row.commit, at: row.at, index: toParts(row).reduce((sum, { count }) => sum + count, 0) };
  }

  async read({ after, limit, tenantId }: LogQuery): Promise<LogPage> {
    const { parts, end } = await this.#findParts(after, limit);
    if (parts.length === 0) return { events: [], end, missed: 0 };
    const runs = await this.#findRuns(parts);
    const wanted = parts.filter(({ run }) => {
      const found = runs.get(run);
      return found?.id !== undefined && found.id !== null && (tenantId === undefined || found.tenantId === tenantId);
    });
    const rows = await this.#readRows(wanted);
    const events: LoggedEvent[] = [];
    for (const { run, from, count, positionOf } of wanted) {
      const { id = "", workflow = "", tenantId: owner } = runs.get(run) ?? {};
      for (let nth = 0; nth < count; nth += 1) {
        const row = rows.get(run * SEQ_RANGE + from + nth);
        const logged = { id, workflow, tenantId: owner ?? undefined };
        if (row !== undefined) events.push({ ...this.#toEvent(row), run: logged, position: positionOf(nth + 1) });
      }
    }
    const gone = parts.filter(({ run }) => (runs.get(run)?.id ?? null) === null);
    const missed = gone
      .filter(({ run }) => tenantId === undefined || runs.get(run)?.tenantId === tenantId)
      .reduce((sum, { count }) => sum + count, 0);
    return { events, end, missed };
  }

  /** The parts behind a place that hold at most so many events, and where the last one ends. */
  async #findParts(
    after: LogPosition,
    limit: number,
  ): Promise<{ readonly parts: readonly Part[]; readonly end: LogPosition }> {
    const parts: Part[] = [];
    let end = after;
    let left = limit;
    const bound = await this.#findBound();
    for (let commit = after.commit; left > 0; ) {
      const rows = await this.#database.all<CommitRow>(SELECT_COMMITS, commit, bound, COMMITS);
      for (const row of rows) {
        let index = 0;
        for (const { run, afterSeq, count } of toParts(row)) {
          const { skipped, taken, positionOf } = cutPart({ commit: row.commit, at: row.at, index }, count, {
            after,
            left,
          });
          index += count;
          if (taken === 0) continue;
          left -= taken;
          end = positionOf(taken);
          parts.push({ run, from: afterSeq + skipped + 1, count: taken, positionOf });
        }
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < COMMITS) break;
      commit = last.commit + 1;
    }
    return { parts, end };
  }

  async #findBound(): Promise<number> {
    return (await this.#database.get<{ readonly bound: number }>(SELECT_BOUND))?.bound ?? 0;
  }

  async #findRuns(parts: readonly Part[]): Promise<ReadonlyMap<RunNo, RunRow>> {
    const numbers = toPostgresArray([...new Set(parts.map(({ run }) => run))]);
    const rows = await this.#database.all<RunRow>(SELECT_RUNS, numbers, numbers);
    return new Map(rows.map((row) => [row.no, row]));
  }

  async #readRows(parts: readonly Part[]): Promise<ReadonlyMap<number, LoggedRow>> {
    if (parts.length === 0) return new Map();
    const firsts = parts.map(({ run, from }) => run * SEQ_RANGE + from);
    const lasts = parts.map(({ run, from, count }) => run * SEQ_RANGE + from + count - 1);
    const rows = await this.#database.all<LoggedRow>(SELECT_PARTS, toPostgresArray(firsts), toPostgresArray(lasts));
    return new Map(rows.map((row) => [row.id, row]));
  }
}

export function toParts({
  entries,
}: Pick<CommitRow, "entries">): readonly { readonly run: RunNo; readonly afterSeq: number; readonly count: number }[] {
  const numbers: readonly number[] = parseExact(entries);
  return Array.from({ length: numbers.length / 3 }, (_, n) => {
    const [run = 0, afterSeq = 0, count = 0] = numbers.slice(3 * n, 3 * n + 3);
    return { run, afterSeq, count };
  });
}
