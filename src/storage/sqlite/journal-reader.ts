import type { DatabaseSync } from "node:sqlite";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { PolicyDecision } from "../../core/graph/policy.ts";
import { decodeEvent } from "../../core/history/event-codec.ts";
import type {
  EventRow,
  LoggedRun,
  LogPage,
  LogPosition,
  LogQuery,
  OutboxQuery,
  OutboxRecord,
  RunFilter,
  RunNo,
  RunRecord,
  RunSelection,
  ViolationFilter,
  ViolationRecord,
} from "../../ports/journal.ts";
import { type Commit, findPosition, type OpenPart, openPartOf, readLog } from "../commit-log.ts";
import {
  SELECT_ACTIVE,
  SELECT_AWAKE,
  SELECT_COMMITS,
  SELECT_DELETED_RUN,
  SELECT_EVENTS,
  SELECT_LAST_EVENT,
  SELECT_LOGGED_RUN,
  SELECT_NEWEST_COMMIT,
  SELECT_NEXT_WAKE_AT,
  SELECT_OUTBOX,
  SELECT_OUTBOX_OF_KIND,
  SELECT_PIN,
  SELECT_RUN,
  SELECT_RUN_BY_ID,
  SELECT_RUNS_BY_PREFIX,
  SELECT_VALUE,
  SUM_APPROVALS,
} from "../sql/journal-statements.ts";
import { countRunsQuery, listRunsQuery } from "../sql/list-runs-query.ts";
import { listViolationsQuery } from "../sql/list-violations-query.ts";
import { type RunRow, SEQ_RANGE, toRunRecord } from "../sql/run-row.ts";
import { prepareQuery, prepareTupleQuery, type Query, type TupleQuery } from "./statement.ts";

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

/** Reads what is committed, in the owner and beside it. Keeps nothing in memory. */
export class JournalReader {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #events: TupleQuery<EventTuple>;
  readonly #value: Query<{ readonly value: string | null }>;
  readonly #run: Query<RunRow>;
  readonly #runById: Query<RunRow>;
  readonly #runsByPrefix: Query<RunRow>;
  readonly #active: Query<RunRow>;
  readonly #awake: Query<RunRow>;
  readonly #nextWakeAt: Query<{ readonly wakeAt: number }>;
  readonly #pin: Query<{ readonly text: string }>;
  readonly #commits: Query<Commit>;
  readonly #newestCommit: Query<Commit>;
  readonly #loggedRun: Query<LoggedRunRow>;
  readonly #lastEvent: Query<{ readonly id: number | null }>;
  readonly #deletedRun: Query<{ readonly tenantId: string | null }>;
  readonly #approvals: Query<{ readonly total: number }>;
  readonly #outbox: Query<OutboxRecord>;
  readonly #outboxOfKind: Query<OutboxRecord>;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#path = path;
    this.#events = prepareTupleQuery(database, SELECT_EVENTS);
    this.#value = prepareQuery(database, SELECT_VALUE);
    this.#run = prepareQuery(database, SELECT_RUN);
    this.#runById = prepareQuery(database, SELECT_RUN_BY_ID);
    this.#runsByPrefix = prepareQuery(database, SELECT_RUNS_BY_PREFIX);
    this.#active = prepareQuery(database, SELECT_ACTIVE);
    this.#awake = prepareQuery(database, SELECT_AWAKE);
    this.#nextWakeAt = prepareQuery(database, SELECT_NEXT_WAKE_AT);
    this.#pin = prepareQuery(database, SELECT_PIN);
    this.#commits = prepareQuery(database, SELECT_COMMITS);
    this.#newestCommit = prepareQuery(database, SELECT_NEWEST_COMMIT);
    this.#loggedRun = prepareQuery(database, SELECT_LOGGED_RUN);
    this.#lastEvent = prepareQuery(database, SELECT_LAST_EVENT);
    this.#deletedRun = prepareQuery(database, SELECT_DELETED_RUN);
    this.#approvals = prepareQuery(database, SUM_APPROVALS);
    this.#outbox = prepareQuery(database, SELECT_OUTBOX);
    this.#outboxOfKind = prepareQuery(database, SELECT_OUTBOX_OF_KIND);
  }

  readEvents(run: RunNo, { afterSeq, limit }: { afterSeq: number; limit: number }): readonly EventRow[] {
    const tuples = this.#events.all(run * SEQ_RANGE + afterSeq, (run + 1) * SEQ_RANGE, limit);
    return tuples.map(([id, type, path, attempt, at, costMicro, body], index) => {
      const seq = afterSeq + index + 1;
      if (id !== run * SEQ_RANGE + seq) throw this.#hole(run, seq);
      return { seq, event: decodeEvent({ type, path, attempt, at, costMicro, body }) };
    });
  }

  readValue(run: RunNo, seq: number): string | undefined {
    return this.#value.get(run * SEQ_RANGE + seq)?.value ?? undefined;
  }

  readValues(run: RunNo, seqs: readonly number[]): ReadonlyMap<number, string> {
    const values = new Map<number, string>();
    for (const seq of seqs) {
      const value = this.readValue(run, seq);
      if (value !== undefined) values.set(seq, value);
    }
    return values;
  }

  readLog(query: LogQuery): LogPage {
    return readLog(query, {
      ...this.#commitSource,
      run: (no) => {
        const found = this.#loggedRun.get(no);
        return found === undefined ? undefined : { ...found, tenantId: found.tenantId ?? undefined };
      },
      tenantOfDeleted: (no) => this.#deletedRun.get(no)?.tenantId ?? undefined,
      events: (run, afterSeq, limit) => this.readEvents(run, { afterSeq, limit }),
    });
  }

  findCommit(commit = this.#newestCommit.get()?.no): LogPosition | undefined {
    return commit === undefined ? undefined : findPosition(commit, this.#commitSource);
  }

  listViolations(filter: ViolationFilter): readonly ViolationRecord[] {
    const { text, parameters } = listViolationsQuery(filter);
    const rows = prepareQuery<ViolationRow>(this.#database, text).all(...parameters);
    return rows.map(({ no, seq, path, at, decision, runId, workflow, tenantId }) => ({
      no,
      run: { id: runId, workflow, tenantId: tenantId ?? undefined },
      seq,
      path,
      at,
      decision: JSON.parse(decision) as PolicyDecision,
    }));
  }

  /** What the next commit may go on with. */
  readOpenPart(): OpenPart | undefined {
    return openPartOf(this.#newestCommit.get(), this.#commitSource);
  }

  readonly #commitSource = {
    commits: (no: number, limit: number) => this.#commits.all(no, limit),
    lastSeq: (run: RunNo) => {
      const id = this.#lastEvent.get(run * SEQ_RANGE, (run + 1) * SEQ_RANGE)?.id ?? undefined;
      return id === undefined ? undefined : id - run * SEQ_RANGE;
    },
  };

  findRun(idOrPrefix: string): RunRecord | "ambiguous" | undefined {
    const exact = this.#runById.get(idOrPrefix);
    if (exact !== undefined) return toRunRecord(exact);
    const [first, second] = this.#runsByPrefix.all(idOrPrefix, idOrPrefix + LAST_CHARACTER);
    if (second !== undefined) return "ambiguous";
    return first === undefined ? undefined : toRunRecord(first);
  }

  readRun(run: RunNo): RunRecord | undefined {
    const row = this.#run.get(run);
    return row === undefined ? undefined : toRunRecord(row);
  }

  listRuns(filter: RunFilter): readonly RunRecord[] {
    const { text, parameters } = listRunsQuery(filter);
    return prepareQuery<RunRow>(this.#database, text)
      .all(...parameters)
      .map(toRunRecord);
  }

  countRuns(selection: RunSelection): number {
    const { text, parameters } = countRunsQuery(selection);
    return prepareQuery<{ readonly total: number }>(this.#database, text).get(...parameters)?.total ?? 0;
  }

  countApprovals(): number {
    return this.#approvals.get()?.total ?? 0;
  }

  /** Two indexes, merged: the runs that are active, and those whose time has come. */
  listDue({ now, afterRun, limit }: { now: number; afterRun: RunNo; limit: number }): readonly RunRecord[] {
    const active = this.#active.all(afterRun, limit);
    const awake = this.#awake.all(now, afterRun, limit);
    const due = awake.length === 0 ? active : [...active, ...awake].sort((a, b) => a.no - b.no).slice(0, limit);
    return due.map(toRunRecord);
  }

  nextWakeAt(): number | undefined {
    return this.#nextWakeAt.get()?.wakeAt;
  }

  readPinned(hash: string): string | undefined {
    return this.#pin.get(hash)?.text;
  }

  readOutbox({ limit, kind, afterId = 0 }: OutboxQuery): readonly OutboxRecord[] {
    const rows = kind === undefined ? this.#outbox.all(afterId, limit) : this.#outboxOfKind.all(kind, afterId, limit);
    return rows.map((row) => ({ ...row }));
  }

  #hole(run: RunNo, seq: number): PawlError {
    return new PawlError("JOURNAL_DAMAGED", {
      message: `${this.#path}: event ${seq} of run ${this.#run.get(run)?.id ?? `number ${run}`} is missing.`,
    });
  }
}
