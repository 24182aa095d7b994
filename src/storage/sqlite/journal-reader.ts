import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import { decodeEvent } from "../../core/history/event-codec.ts";
import type {
  Journal,
  LoggedRun,
  OutboxRecord,
  RunFilter,
  RunNo,
  RunSelection,
  ViolationRecord,
} from "../../ports/journal.ts";
import { type Commit, findPosition, openPartOf, readLog } from "../commit-log.ts";
import * as sql from "../sql/journal-statements.ts";
import {
  countRunsQuery,
  createdWithinQuery,
  listRunsQuery,
  listViolationsQuery,
  orderOf,
  type Slice,
} from "../sql/list-queries.ts";
import { type RunRow, SEQ_RANGE, toRunRecord } from "../sql/run-row.ts";
import { inSlices } from "./slices.ts";
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

interface ViolationRow extends Pick<ViolationRecord, "no" | "seq" | "path" | "at"> {
  readonly decision: string;
  readonly runId: string;
  readonly workflow: string;
  readonly tenantId: string | null;
}

type LoggedRunRow = Omit<LoggedRun, "tenantId"> & { readonly tenantId: string | null };

/** The highest code point: every id that begins with a prefix sorts below the prefix with this behind it. */
const LAST_CHARACTER = "\u{10FFFF}";

type Write = "reserveRun" | "append" | "finishOutbox" | "deleteRun" | "close";

/** Any number of rows may have to be looked at for these: a slice at a time. */
type Walk = "listRuns" | "countRuns" | "listViolations";

/** The reading calls of a journal. Of all but three the answers are there at once. */
export type JournalReads = Pick<Journal, Walk> & {
  readonly [Call in Exclude<keyof Journal, Write | Walk>]: (
    ...parameters: Parameters<Journal[Call]>
  ) => Awaited<ReturnType<Journal[Call]>>;
};

/** Runs of a time are found by its index where they are no more than these. */
const FEW = 20_000;

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

    async listViolations(filter) {
      const { newest } = query<{ newest: number | null }>(sql.SELECT_NEWEST_VIOLATION).get() ?? {};
      const last = Math.min(newest ?? 0, (filter.beforeNo ?? Number.MAX_SAFE_INTEGER) - 1);
      const rows: ViolationRow[] = [];
      for await (const slice of inSlices({ first: 1, last }, "DESC")) {
        const { text, parameters } = listViolationsQuery({ ...filter, limit: filter.limit - rows.length }, slice);
        rows.push(...query<ViolationRow>(text).all(...parameters));
        if (rows.length >= filter.limit) break;
      }
      return rows.map(({ decision, runId: id, workflow, tenantId, ...place }) => ({
        ...place,
        run: { id, workflow, tenantId: tenantId ?? undefined },
        decision: JSON.parse(decision) as PolicyDecision,
      }));
    },

    findRun(idOrPrefix) {
      const exact = query<RunRow>(sql.SELECT_RUN_BY_ID).get(idOrPrefix);
      if (exact !== undefined) return toRunRecord(exact);
      const fitting = query<RunRow>(sql.SELECT_RUNS_BY_PREFIX).all(idOrPrefix, idOrPrefix + LAST_CHARACTER);
      return fitting.length > 1 ? "ambiguous" : fitting.map(toRunRecord)[0];
    },

    readRun(run) {
      return query<RunRow>(sql.SELECT_RUN).all(run).map(toRunRecord)[0];
    },

    async listRuns(filter) {
      const rows: RunRow[] = [];
      let offset = filter.offset ?? 0;
      for await (const slice of inSlices(rangeWithRuns(filter), orderOf(filter))) {
        const skipped = offset === 0 ? 0 : countWithin(filter, slice);
        if (skipped > offset || offset === 0) {
          const rest = { ...filter, offset, limit: filter.limit - rows.length };
          const { text, parameters } = listRunsQuery(rest, slice);
          rows.push(...query<RunRow>(text).all(...parameters));
        }
        offset = Math.max(0, offset - skipped);
        if (rows.length >= filter.limit) break;
      }
      return rows.map(toRunRecord);
    },

    async countRuns(selection) {
      let count = 0;
      for await (const slice of inSlices(rangeWithRuns(selection), "ASC")) count += countWithin(selection, slice);
      return count;
    },

    countApprovals() {
      return query<{ total: number }>(sql.SUM_APPROVALS).get()?.total ?? 0;
    },

    /** Two indexes, merged: the runs that are active, and those whose time has come. */
    listDue({ now, afterRun, limit }) {
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

  function countWithin(selection: RunSelection, slice: Slice): number {
    const { text, parameters } = countRunsQuery(selection, slice);
    return query<{ total: number }>(text).get(...parameters)?.total ?? 0;
  }

  /** No run that is selected has a number outside of it. */
  function rangeWithRuns({ beforeRun, afterRun, ...selection }: RunSelection & Partial<RunFilter>): Slice {
    const { newest } = query<{ newest: number | null }>(sql.SELECT_NEWEST_KEPT_RUN).get() ?? {};
    const first = (afterRun ?? 0) + 1;
    const last = Math.min(newest ?? 0, (beforeRun ?? Number.MAX_SAFE_INTEGER) - 1);
    const asked = createdWithinQuery(selection, FEW);
    if (asked === undefined) return { first, last };
    const found = query<{ count: number; first: number | null; last: number | null }>(asked.text).get(
      ...asked.parameters,
    );
    if (found === undefined || found.count === FEW) return { first, last };
    return { first: Math.max(first, found.first ?? 1), last: Math.min(last, found.last ?? 0) };
  }

  /** The end of the order of all runs, which the next commit may continue. */
  const readOpenPart = () => openPartOf(newestCommit(), commitSource);

  function missing(run: RunNo, seq: number): PawlError {
    return new PawlError("JOURNAL_DAMAGED", {
      message: `${path}: event ${seq} of run ${reader.readRun(run)?.id ?? `number ${run}`} is missing.`,
    });
  }

  return { reader, readOpenPart };
}

/** The keys between which the events of a run lie, both excluded. */
function rangeOf(run: RunNo, afterSeq: number): readonly [number, number] {
  return [run * SEQ_RANGE + afterSeq, (run + 1) * SEQ_RANGE];
}
