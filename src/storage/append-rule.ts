import type { FinalStatus } from "../core/history/events.ts";
import type { Append, AppendResult, RunNo, RunStatus } from "../ports/journal.ts";

/** The state of a run that a journal needs to judge the next entry. */
export interface RunHead {
  readonly lastSeq: number;
  readonly status: RunStatus;
  readonly parked: boolean;
}

/** What an entry says to the rule, and to the order of all runs. */
export interface EntryFacts {
  readonly run: RunNo;
  readonly afterSeq: number;
  readonly count: number;
  /** The time of its last event. */
  readonly at: number;
  /** It creates the run. */
  readonly isNew: boolean;
  readonly status?: RunStatus;
  readonly parked?: boolean;
}

export type Refusal = Extract<AppendResult, { ok: false }>;

/** 24 bits: a journal may pack a run's number and a sequence number into one exact number. */
export const MAX_EVENTS_PER_RUN = 2 ** 24 - 1;

export function factsOf(entry: Append): EntryFacts {
  const { run, afterSeq, events, create, patch } = entry;
  const facts: { -readonly [Name in keyof EntryFacts]: EntryFacts[Name] } = {
    run,
    afterSeq,
    count: events.length,
    at: timeOf(entry),
    isNew: create !== undefined,
  };
  if (patch?.status !== undefined) facts.status = patch.status;
  if (patch?.parked !== undefined) facts.parked = patch.parked;
  return facts;
}

/**
 * Whether an entry may follow what the journal holds: the fence against a second writer, the same in every journal.
 * `head` is undefined where the run does not exist.
 */
export function findRefusal(head: RunHead | undefined, entry: EntryFacts): Refusal | undefined {
  const { run, afterSeq, isNew } = entry;
  if (head === undefined && !isNew) return conflict(`There is no run number ${run}.`);
  if (head !== undefined && isNew) return conflict(`Run number ${run} exists already.`);
  if (head !== undefined && hasEnded(head.status)) return conflict(`Run number ${run} has ended.`);
  const lastSeq = head?.lastSeq ?? 0;
  if (afterSeq !== lastSeq) return conflict(`The last event of run number ${run} is ${lastSeq}, not ${afterSeq}.`);
  if (lastSeq + entry.count > MAX_EVENTS_PER_RUN) return refused(`A run has at most ${MAX_EVENTS_PER_RUN} events.`);
  return undefined;
}

export function headAfter(head: RunHead | undefined, { afterSeq, count, status, parked }: EntryFacts): RunHead {
  return {
    lastSeq: afterSeq + count,
    status: status ?? head?.status ?? "queued",
    parked: parked ?? head?.parked ?? false,
  };
}

export function hasEnded(status: RunStatus): status is FinalStatus {
  switch (status) {
    case "queued":
    case "running":
    case "waiting":
    case "awaiting_approval":
      return false;
    case "completed":
    case "partial":
    case "failed":
    case "cancelled":
    case "budget_exceeded":
      return true;
  }
}

/** The entry itself cannot be stored, and would be refused again. */
export function refused(message: string): Refusal {
  return { ok: false, reason: "refused", message };
}

export function taken(id: string): Refusal {
  return { ok: false, reason: "taken", message: `There is a run ${id} already.` };
}

/** No place of its key is free, and it does not wait for one. */
export function full({ limit }: { readonly limit: number }): Refusal {
  return { ok: false, reason: "full", message: `As many runs as may go on at once (${limit}) go on or wait.` };
}

function conflict(message: string): Refusal {
  return { ok: false, reason: "conflict", message };
}

/** The time of an entry is that of its last event. */
export function timeOf(entry: Append): number {
  return entry.events.at(-1)?.event.at ?? entry.create?.createdAt ?? 0;
}

/** The time of a batch. */
export function latestOf(entries: readonly Append[]): number {
  return entries.reduce((latest, entry) => Math.max(latest, timeOf(entry)), 0);
}
