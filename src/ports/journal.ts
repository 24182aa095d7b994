import type { Policy, PolicyDecision } from "../core/graph/policy.ts";
import type { Event, RunPlace } from "../core/history/events.ts";

/** Runs are numbered inside one journal; the number is never shown to users. */
export type RunNo = number;

/**
 * The append-only record of every run, the only truth. A run has one writer: the process that has created or claimed it. In a
 * journal that one process owns, that is the writer of all. Sequence numbers of a run are dense from 1. Values lie beside
 * their event and are read only when asked for.
 */
export interface Journal {
  /** How many calls of `append` may be under way at once, each for other runs. Absent: one. */
  readonly commitsAtOnce?: number;
  /** A number for a run that the caller is about to create. No other run has it; unused numbers are skipped. */
  reserveRun(): Promise<RunNo>;
  /**
   * Commits all entries in one transaction, at the configured durability, or reports per entry why not; only that entry is
   * dropped then. Rejects when it is not certain that anything was written (`JOURNAL_FULL`, `JOURNAL_IO`). A batch that is tried
   * again under its `token` is written once, whatever became of the tries before.
   */
  append(entries: readonly Append[], token?: string): Promise<readonly AppendResult[]>;
  /** Rows with `seq > afterSeq`, in order, without their values. */
  readEvents(run: RunNo, options: { readonly afterSeq: number; readonly limit: number }): Promise<readonly EventRow[]>;
  /** The stored value of one event, as it was appended. */
  readValue(run: RunNo, seq: number): Promise<string | undefined>;
  readValues(run: RunNo, seqs: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Events of all runs after `after`, in commit order. At most `limit` events are examined, so a page may be empty before the last one. */
  readLog(query: LogQuery): Promise<LogPage>;
  /** The position after the last commit, or after the commit with that number if there is one. */
  findCommit(commit?: number): Promise<LogPosition | undefined>;
  /** Violations of policies, newest first. */
  listViolations(filter: ViolationFilter): Promise<readonly ViolationRecord[]>;
  /** Finds a run by its id, or by a prefix that fits exactly one run. `ambiguous` if it fits more. */
  findRun(idOrPrefix: string): Promise<RunRecord | "ambiguous" | undefined>;
  readRun(run: RunNo): Promise<RunRecord | undefined>;
  /** Newest first, or oldest first from `afterRun`. */
  listRuns(filter: RunFilter): Promise<readonly RunRecord[]>;
  /** The number of all runs selected, regardless of pages. */
  countRuns(filter: RunSelection): Promise<number>;
  /** The same by status. A status that no run has may be left out. */
  countRunsByStatus(filter: Omit<RunSelection, "status">): Promise<ReadonlyMap<RunStatus, number>>;
  /** What the rows of a tenant's runs say that they have stored (`storedBytes`), together. */
  sumStoredBytes(tenantId: string): Promise<number>;
  /** What a run waits for that is in line for a place. Undefined: it is not. */
  findLine(run: RunNo): Promise<Line | undefined>;
  /** Some of the runs that a newer one in line wants cancelled. */
  listOvertaken(): Promise<readonly string[]>;
  /** The number of open questions to people in all runs. */
  countApprovals(): Promise<number>;
  /** Claims unfinished runs that must go on now (not parked, or `wakeAt <= now`), oldest first, for this process. */
  claimDue(options: {
    readonly now: number;
    readonly afterRun: RunNo;
    readonly limit: number;
    /** Of these only. Absent: of all. */
    readonly only?: readonly RunNo[] | undefined;
  }): Promise<readonly ClaimedRun[]>;
  /** From now on this process drives the run, if it does not yet. Undefined: another one does, or there is no such run. */
  claim(run: RunNo): Promise<ClaimedRun | undefined>;
  /** Another process may drive these runs. `untouched`: of them this process has only begun, and done nothing. */
  release(runs: readonly RunNo[], untouched?: readonly RunNo[]): Promise<void>;
  /** Whether a process drives it now. Absent: there is only one. */
  isDriven?(run: RunNo): Promise<boolean>;
  /** The earliest `wakeAt` of a parked run. Those that a process drives may be left out. */
  nextWakeAt(): Promise<number | undefined>;
  readPinned(hash: string): Promise<string | undefined>;
  /** Work that remains after ends of runs, oldest first. `afterId`: only later entries. */
  readOutbox(options: OutboxQuery): Promise<readonly OutboxRecord[]>;
  /** Marks entries as done, durably. */
  finishOutbox(ids: readonly number[]): Promise<void>;
  /** Deletes an ended run with its events, values and outbox, atomically. Shared blobs and pinned texts stay. False: no such run, or not ended. */
  deleteRun(run: RunNo): Promise<boolean>;
  close(): Promise<void>;
}

export interface Line {
  /** Some of the runs that have the places. */
  readonly holders: readonly string[];
  /** How many runs are before it. */
  readonly before: number;
}

/** A place in the order of all commits: nothing is committed before a place that was read. */
export interface LogPosition {
  /** It grows; 0: before the first. */
  readonly commit: number;
  /** The time of the commit, which distinguishes it from one with the same number in another history. */
  readonly at: number;
  /** How many of its events come before. */
  readonly index: number;
}

export const LOG_BEGIN: LogPosition = { commit: 0, at: 0, index: 0 };

export function isBefore(a: LogPosition, b: LogPosition): boolean {
  return a.commit < b.commit || (a.commit === b.commit && a.index < b.index);
}

export interface LogQuery {
  readonly after: LogPosition;
  readonly limit: number;
  readonly tenantId?: string | undefined;
}

export interface LogPage {
  readonly events: readonly LoggedEvent[];
  /** The next page begins here. */
  readonly end: LogPosition;
  /** The number of events whose runs were deleted. */
  readonly missed: number;
}

export interface LoggedEvent extends EventRow {
  readonly run: LoggedRun;
  /** The position after this event. */
  readonly position: LogPosition;
}

export interface LoggedRun {
  readonly id: string;
  readonly workflow: string;
  readonly tenantId?: string | undefined;
}

export interface ViolationFilter {
  readonly run?: RunNo;
  readonly workflow?: string;
  readonly tenantId?: string | undefined;
  readonly policy?: string;
  readonly action?: Policy["action"];
  /** Milliseconds since the epoch: then or later, and before. */
  readonly from?: number;
  readonly before?: number;
  /** Only older ones than this: the last one of the page before. */
  readonly beforeNo?: number;
  readonly limit: number;
}

export interface ViolationRecord {
  /** In the order in which they were recorded. */
  readonly no: number;
  readonly run: LoggedRun;
  /** The number of the event that holds it. */
  readonly seq: number;
  readonly path: string;
  readonly at: number;
  readonly decision: PolicyDecision;
}

/** The entry of one run in one commit. */
export interface Append {
  readonly run: RunNo;
  /** The run's last sequence number before this entry; 0 creates the run. */
  readonly afterSeq: number;
  readonly create?: NewRun;
  readonly events: readonly NewEvent[];
  readonly patch?: RunPatch;
  readonly outbox?: readonly NewOutbox[];
  /** Requests of the inbox that these events answer. */
  readonly answers?: readonly number[];
  /** Texts that runs refer to by hash: definitions, graphs. Stored once. */
  readonly pins?: readonly { readonly hash: string; readonly text: string }[];
}

export interface NewEvent {
  readonly event: Event;
  /** JSON text, or `~` and the SHA-256 of a blob. */
  readonly value?: string;
}

export interface EventRow {
  readonly seq: number;
  readonly event: Event;
}

export interface NewRun {
  readonly id: string;
  readonly workflow: string;
  readonly dialect: string;
  /** Hash of the pinned graph, and of the definition's text. */
  readonly graph: string;
  readonly definition: string;
  readonly createdAt: number;
  readonly parentRunId?: string;
  readonly tenantId?: string;
  readonly callbackUrl?: string;
}

export interface RunPatch {
  readonly status?: RunStatus;
  /** `null` clears. A parked run with none waits for a signal. */
  readonly wakeAt?: number | null;
  /** True: nothing to do until `wakeAt`, a signal or an answer. */
  readonly parked?: boolean;
  readonly costMicro?: number;
  /** Set with `costMicro`. */
  readonly uncertainMicro?: number | null;
  /**
   * It is in the line of its key from now on, or out of it. In the same commit the first ones in line get the places that are free:
   * they are not parked any more. With `skip` a run that would have to wait is refused as `full`.
   */
  readonly place?: RunPlace & { readonly isOver: boolean };
  /** Questions that wait for a person. */
  readonly openApprovals?: number;
  /** About how many bytes its events and values take by now. */
  readonly storedBytes?: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  readonly error?: { readonly code: string; readonly message: string } | null;
}

export const RUN_STATUSES = [
  "queued",
  "running",
  "waiting",
  "awaiting_approval",
  "completed",
  "partial",
  "failed",
  "cancelled",
  "budget_exceeded",
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

/** Those of runs that have not ended. */
export const UNFINISHED_STATUSES: readonly RunStatus[] = ["queued", "running", "waiting", "awaiting_approval"];

export interface RunRecord extends NewRun {
  readonly no: RunNo;
  readonly status: RunStatus;
  readonly lastSeq: number;
  readonly parked: boolean;
  readonly wakeAt?: number;
  readonly costMicro: number;
  /** What calls may have cost beside it whose cost is not known. Null: unknown how much. */
  readonly uncertainMicro: number | null;
  readonly openApprovals: number;
  readonly storedBytes: number;
  readonly startedAt?: number;
  readonly completedAt?: number;
  /** Why it has ended so; of a run that goes on, why steps of it are held. */
  readonly error?: { readonly code: string; readonly message: string };
}

export interface ClaimedRun extends RunRecord {
  /** The last sign of life of the process that drove it before and has died. `null`: it was let go of. Absent: unknown. */
  readonly lostAt?: number | null;
  /** A process that drives no runs has begun it, and no process has driven it so far: nothing that it wants done has been tried. */
  readonly isNew?: true;
}

/** Some of its steps took the process down and rest until a person resumes the run. */
export function holdsSteps({ completedAt, error }: RunRecord): boolean {
  return completedAt === undefined && error !== undefined;
}

/** It should go on now: a process should drive it. */
export function wantsDriver(run: RunRecord, now: number): boolean {
  if (run.completedAt !== undefined || holdsSteps(run)) return false;
  return !run.parked || (run.wakeAt !== undefined && run.wakeAt <= now);
}

export interface RunSelection {
  readonly status?: readonly RunStatus[];
  readonly workflow?: string;
  readonly dialect?: string;
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  readonly tenantId?: string;
  /** Reruns and forks of that run. */
  readonly parentRunId?: string;
  /** True: only runs that wait for a person somewhere. */
  readonly hasApprovals?: boolean;
  /** True: only unfinished runs with steps that are held (`holdsSteps`). */
  readonly holdsSteps?: boolean;
  /** Only runs that a process should drive at that time (`wantsDriver`). */
  readonly dueAt?: number;
  /** A text in the workflow's name, the id or the error. Case of ASCII letters does not count. */
  readonly text?: string;
}

export interface RunFilter extends RunSelection {
  /** Only runs with a smaller number: the cursor of the page before. */
  readonly beforeRun?: RunNo;
  /** Only runs with a larger number, and the oldest first. 0: from the first one. */
  readonly afterRun?: RunNo;
  /** Skips so many of the newest, for clients that page by number. Such pages shift while runs are added. */
  readonly offset?: number;
  readonly limit: number;
}

export type AppendResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: AppendRefusal; readonly message: string };

type AppendRefusal =
  /** `afterSeq` is not the run's last number, or the run has ended or was never created. */
  | "conflict"
  /** Another process has taken the run over. */
  | "fenced"
  /** There is a run of this id. */
  | "taken"
  /** No place of its key is free, and it does not wait for one. */
  | "full"
  /** The entry itself cannot be stored, and would be refused again. */
  | "refused";

export interface NewOutbox {
  /** `storage`, `webhook`, `notify`, `dead_letter` ... */
  readonly kind: string;
  /** JSON text. */
  readonly body: string;
}

export interface OutboxQuery {
  readonly limit: number;
  readonly kind?: string;
  readonly afterId?: number;
}

export interface OutboxRecord extends NewOutbox {
  readonly id: number;
  readonly run: RunNo;
  readonly createdAt: number;
}
