import { PawlError } from "../../../core/errors/pawl-error.ts";
import { decodeEvent, type StoredEvent } from "../../../core/history/event-codec.ts";
import type { EventRow, Journal, OutboxRecord, RunNo } from "../../../ports/journal.ts";
import * as sql from "../../sql/journal-statements.ts";
import {
  countByStatusQuery,
  countRunsQuery,
  listRunsQuery,
  listViolationsQuery,
  type StatusCount,
  sumStoredQuery,
  toViolation,
  type ViolationRow,
} from "../../sql/list-queries.ts";
import { type LineRow, type RunRow, rangeOf, SEQ_RANGE, toLine, toRunRecord } from "../../sql/run-row.ts";
import type { SqlDatabase } from "../../sql/sql-database.ts";
import { toPostgresArray } from "../postgres-text.ts";
import { PostgresLog } from "./postgres-log.ts";

type Written = "reserveRun" | "append" | "finishOutbox" | "deleteRun" | "claim" | "claimDue" | "release" | "close";

/** All of a table: here no statement keeps others from their turn. */
const WHOLE = { first: 0, last: Number.MAX_SAFE_INTEGER };

const SELECT_VALUES = "SELECT id, value FROM events WHERE id = ANY(?::bigint[]) AND value IS NOT NULL";

type EventRecord = Omit<StoredEvent, "costMicro"> & { readonly id: number; readonly cost_micro: number | null };

export function createPostgresReader(database: SqlDatabase): Omit<Journal, Written> {
  const log = new PostgresLog(database, toEvent);
  return {
    async readEvents(run, { afterSeq, limit }) {
      const rows = await database.all<EventRecord>(sql.SELECT_EVENTS, ...rangeOf(run, afterSeq), limit);
      return rows.map((row, index) => {
        const event = toEvent(row);
        if (event.seq !== afterSeq + index + 1) throw missing(run, afterSeq + index + 1);
        return event;
      });
    },

    async readValue(run, seq) {
      const row = await database.get<{ readonly value: string | null }>(sql.SELECT_VALUE, run * SEQ_RANGE + seq);
      return row?.value ?? undefined;
    },

    async readValues(run, seqs) {
      const ids = toPostgresArray(seqs.map((seq) => run * SEQ_RANGE + seq));
      const rows = await database.all<{ readonly id: number; readonly value: string }>(SELECT_VALUES, ids);
      const values = new Map(rows.map(({ id, value }) => [id - run * SEQ_RANGE, value]));
      return new Map(seqs.flatMap((seq) => (values.has(seq) ? [[seq, values.get(seq) ?? ""]] : [])));
    },

    async isDriven(run) {
      return (await database.get("SELECT 1 AS driven FROM runs WHERE no = ? AND owner IS NOT NULL", run)) !== undefined;
    },

    readLog: (query) => log.read(query),
    findCommit: (commit) => log.find(commit),

    async listViolations({ beforeNo, ...filter }) {
      const slice = { first: 0, last: (beforeNo ?? Number.MAX_SAFE_INTEGER) - 1 };
      const { text, parameters } = listViolationsQuery(filter, slice);
      const rows = await database.all<ViolationRow>(text, ...parameters);
      return rows.map(toViolation);
    },

    async findRun(idOrPrefix) {
      const exact = await database.get<RunRow>(sql.SELECT_RUN_BY_ID, idOrPrefix);
      if (exact !== undefined) return toRunRecord(exact);
      const fitting = await database.all<RunRow>(sql.SELECT_RUNS_BY_PREFIX, ...sql.prefixRange(idOrPrefix));
      return fitting.length > 1 ? "ambiguous" : fitting.map(toRunRecord)[0];
    },

    async findLine(run) {
      return toLine(await database.all<LineRow>(sql.selectLine(), run));
    },

    async listOvertaken() {
      return (await database.all<{ readonly id: string }>(sql.selectOvertaken())).map(({ id }) => id);
    },

    async readRun(run) {
      return (await database.all<RunRow>(sql.SELECT_RUN, run)).map(toRunRecord)[0];
    },

    async listRuns({ beforeRun, afterRun, ...filter }) {
      const first = (afterRun ?? -1) + 1;
      const last = Math.min(WHOLE.last, (beforeRun ?? WHOLE.last) - 1);
      const order = afterRun === undefined ? {} : { afterRun };
      const { text, parameters } = listRunsQuery({ ...filter, ...order }, { first, last });
      return (await database.all<RunRow>(text, ...parameters)).map(toRunRecord);
    },

    async countRuns(selection) {
      const { text, parameters } = countRunsQuery(selection, WHOLE);
      return (await database.get<{ readonly total: number }>(text, ...parameters))?.total ?? 0;
    },

    async countRunsByStatus(selection) {
      const { text, parameters } = countByStatusQuery(selection, WHOLE);
      const rows = await database.all<StatusCount>(text, ...parameters);
      return new Map(rows.map(({ status, count }) => [status, count]));
    },

    async sumStoredBytes(tenantId) {
      const { text, parameters } = sumStoredQuery(tenantId, WHOLE);
      return (await database.get<{ readonly total: number }>(text, ...parameters))?.total ?? 0;
    },

    async countApprovals() {
      return (await database.get<{ readonly total: number }>(sql.SUM_APPROVALS))?.total ?? 0;
    },

    async nextWakeAt() {
      return (await database.get<{ readonly wakeAt: number }>(NEXT_WAKE_AT))?.wakeAt;
    },

    async readPinned(hash) {
      return (await database.get<{ readonly text: string }>(sql.SELECT_PIN, hash))?.text;
    },

    async readOutbox({ limit, kind, afterId = 0 }) {
      return kind === undefined
        ? database.all<OutboxRecord>(sql.SELECT_OUTBOX, afterId, limit)
        : database.all<OutboxRecord>(sql.SELECT_OUTBOX_OF_KIND, kind, afterId, limit);
    },
  };
}

const NEXT_WAKE_AT = sql.SELECT_NEXT_WAKE_AT.replace("WHERE ", "WHERE owner IS NULL AND ");

function toEvent({ id, cost_micro: costMicro, ...stored }: EventRecord): EventRow {
  return { seq: id % SEQ_RANGE, event: decodeEvent({ ...stored, costMicro }) };
}

function missing(run: RunNo, seq: number): PawlError {
  return new PawlError("JOURNAL_DAMAGED", { message: `Event ${seq} of run number ${run} is missing in the database.` });
}
