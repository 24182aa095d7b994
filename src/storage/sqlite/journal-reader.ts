import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { decodeEvent } from "../../core/history/event-codec.ts";
import type { Journal, LoggedRun, OutboxRecord, RunNo } from "../../ports/journal.ts";
import { type Commit, findPosition, openPartOf, readLog } from "../commit-log.ts";
import * as sql from "../sql/journal-statements.ts";
import { type LineRow, type RunRow, rangeOf, SEQ_RANGE, toLine, toRunRecord } from "../sql/run-row.ts";
import { createLists, type Lists } from "./lists.ts";
import { prepareTupleQuery, Statements } from "./statement.ts";

type EventTuple = readonly [
  id: number,
  type: string,
  path: string | null,
  attempt: number | null,
  at: number,
  costMicro: number | null,
  body: string | null,
];

type LoggedRunRow = Omit<LoggedRun, "tenantId"> & { readonly tenantId: string | null };

type Other =
  | "commitsAtOnce"
  | "reserveRun"
  | "append"
  | "finishOutbox"
  | "deleteRun"
  | "claim"
  | "release"
  | "isDriven"
  | "close";

/** The reading calls of a journal. But for those of lists, answers are there at once. */
export type JournalReads = Lists & {
  readonly [Call in Exclude<keyof Journal, Other | keyof Lists>]: (
    ...parameters: Parameters<Journal[Call]>
  ) => Awaited<ReturnType<Journal[Call]>>;
};

/** The reading calls of a journal, in the owner and beside it. Keeps nothing in memory. */
export function createJournalReader(database: DatabaseSync, path: string) {
  const statements = new Statements(database);
  const query = <Row>(text: string) => statements.query<Row>(text);
  const events = prepareTupleQuery<EventTuple>(database, sql.SELECT_EVENTS);

  const commitSource = {
    commits: (no: number, limit: number) => query<Commit>(sql.SELECT_COMMITS).all(no, limit),
    lastSeq: (run: RunNo) => {
      const { id } = query<{ id: number | null }>(sql.SELECT_LAST_EVENT).get(...rangeOf(run, 0)) ?? {};
      return typeof id === "number" ? id - run * SEQ_RANGE : undefined;
    },
  };
  const newestCommit = () => query<Commit>(sql.SELECT_NEWEST_COMMIT).get();

  const reader: JournalReads = {
    ...createLists(statements),

    readEvents(run, { afterSeq, limit }) {
      return events
        .all(...rangeOf(run, afterSeq), limit)
        .map(([id, type, place, attempt, at, costMicro, body], index) => {
          const seq = afterSeq + index + 1;
          if (id !== run * SEQ_RANGE + seq) throw missing(run, seq);
          return { seq, event: decodeEvent({ type, path: place, attempt, at, costMicro, body }) };
        });
    },

    readValue(run, seq) {
      return query<{ value: string | null }>(sql.SELECT_VALUE).get(run * SEQ_RANGE + seq)?.value ?? undefined;
    },

    readValues(run, seqs) {
      const values = new Map<number, string>();
      for (const seq of seqs) {
        const value = reader.readValue(run, seq);
        if (value !== undefined) values.set(seq, value);
      }
      return values;
    },

    readLog(wanted) {
      return readLog(wanted, {
        ...commitSource,
        run: (no) => {
          const found = query<LoggedRunRow>(sql.SELECT_LOGGED_RUN).get(no);
          return found === undefined ? undefined : { ...found, tenantId: found.tenantId ?? undefined };
        },
        tenantOfDeleted: (no) => {
          return query<{ tenantId: string | null }>(sql.SELECT_DELETED_RUN).get(no)?.tenantId ?? undefined;
        },
        events: (run, afterSeq, limit) => reader.readEvents(run, { afterSeq, limit }),
      });
    },

    findCommit(commit = newestCommit()?.no) {
      return commit === undefined ? undefined : findPosition(commit, commitSource);
    },

    findRun(idOrPrefix) {
      const exact = query<RunRow>(sql.SELECT_RUN_BY_ID).get(idOrPrefix);
      if (exact !== undefined) return toRunRecord(exact);
      const fitting = query<RunRow>(sql.SELECT_RUNS_BY_PREFIX).all(...sql.prefixRange(idOrPrefix));
      return fitting.length > 1 ? "ambiguous" : fitting.map(toRunRecord)[0];
    },

    readRun(run) {
      return query<RunRow>(sql.SELECT_RUN).all(run).map(toRunRecord)[0];
    },

    findLine(run) {
      return toLine(query<LineRow>(sql.selectLine()).all(run));
    },

    listOvertaken() {
      const rows = query<{ id: string }>(sql.selectOvertaken()).all();
      return rows.map(({ id }) => id);
    },

    countApprovals() {
      return query<{ total: number }>(sql.SUM_APPROVALS).get()?.total ?? 0;
    },

    /** Two indexes, merged: the runs that are active, and those whose time has come. */
    claimDue({ now, afterRun, limit }) {
      const active = query<RunRow>(sql.SELECT_ACTIVE).all(afterRun, limit);
      const awake = query<RunRow>(sql.SELECT_AWAKE).all(now, afterRun, limit);
      const due = awake.length === 0 ? active : [...active, ...awake].sort((a, b) => a.no - b.no).slice(0, limit);
      return due.map(toRunRecord);
    },

    nextWakeAt() {
      return query<{ wakeAt: number }>(sql.SELECT_NEXT_WAKE_AT).get()?.wakeAt;
    },

    readPinned(hash) {
      return query<{ text: string }>(sql.SELECT_PIN).get(hash)?.text;
    },

    readOutbox({ limit, kind, afterId = 0 }) {
      const rows =
        kind === undefined
          ? query<OutboxRecord>(sql.SELECT_OUTBOX).all(afterId, limit)
          : query<OutboxRecord>(sql.SELECT_OUTBOX_OF_KIND).all(kind, afterId, limit);
      return rows.map((row) => ({ ...row }));
    },
  };

  /** The end of the order of all runs, which the next commit may continue. */
  const readOpenPart = () => openPartOf(newestCommit(), commitSource);

  function missing(run: RunNo, seq: number): PawlError {
    return new PawlError("JOURNAL_DAMAGED", {
      message: `${path}: event ${seq} of run ${reader.readRun(run)?.id ?? `number ${run}`} is missing.`,
    });
  }

  return { reader, readOpenPart };
}
