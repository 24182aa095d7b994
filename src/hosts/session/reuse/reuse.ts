import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { ApprovalAnswered, Event, RunStarted, StepSucceeded } from "../../../core/history/events.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import { Downstream } from "../../../core/interpreter/downstream.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";
import { passTurn } from "../../../ports/turns.ts";

export type Lineage = NonNullable<RunStarted["lineage"]>;

/** Outcomes of an earlier run, for a rerun or fork of it. */
export interface ReusableOutcomes {
  readonly run: string;
  readonly no: RunNo;
  readonly byPath: ReadonlyMap<string, Reusable>;
  readonly answers: ReadonlyMap<string, ReusableAnswer>;
  /** The steps that are done again, and all that depends on them. */
  readonly downstream: Downstream;
  readonly journal: Pick<Journal, "readValue">;
}

interface Reusable {
  readonly seq: number;
  readonly event: StepSucceeded;
}

/** A person's answer to an approval step, and what they were shown. */
interface ReusableAnswer {
  readonly asked: { readonly seq: number; readonly message: string };
  readonly seq: number;
  readonly event: ApprovalAnswered;
}

const PAGE = 500;

export async function loadReusable(journal: Journal, { run, fromPath }: Lineage): Promise<ReusableOutcomes> {
  const record = await journal.findRun(run);
  if (record === undefined || record === "ambiguous")
    throw new PawlError("RUN_NOT_FOUND", { message: `The run "${run}" that this one repeats is not there.` });
  const found = new Found();
  for (let afterSeq = 0; ; afterSeq += PAGE) {
    await passTurn();
    const rows = await journal.readEvents(record.no, { afterSeq, limit: PAGE });
    for (const { seq, event } of rows) found.note(seq, event);
    if (rows.length < PAGE) break;
  }
  const { byPath, answers } = found;
  return { run: record.id, no: record.no, byPath, answers, downstream: new Downstream(fromPath), journal };
}

class Found {
  readonly byPath = new Map<string, Reusable>();
  readonly answers = new Map<string, ReusableAnswer>();
  readonly #asked = new Map<string, ReusableAnswer["asked"]>();

  note(seq: number, event: Event): void {
    if (event.type === "stepSucceeded") {
      if (event.inputHash !== undefined) this.byPath.set(event.path, { seq, event });
    } else if (event.type === "approvalAsked") {
      // A question of a task is part of the task's outcome.
      if (event.attempt === undefined) this.#asked.set(event.path, { seq, message: event.message });
    } else if (event.type === "approvalAnswered") {
      const asked = this.#asked.get(event.path);
      this.#asked.delete(event.path);
      // A run that was rejected is repeated to be asked again.
      if (asked !== undefined && event.answer !== "reject") this.answers.set(event.path, { asked, seq, event });
    }
  }
}

/** An outcome may be taken over from the earlier run, if the input turns out to be the same. */
export function mayReuse(outcomes: ReusableOutcomes | undefined, instance: Instance): boolean {
  return outcomes !== undefined && findCandidate(outcomes, instance) !== undefined;
}

/**
 * The outcome of the earlier run, if its instance is live again on the same input, and nothing before it is done again.
 * Nothing is done or paid: its time and its use were booked in the old run.
 */
export function reuseOutcome(
  outcomes: ReusableOutcomes | undefined,
  instance: Instance,
  inputHash: string,
): Promise<{ readonly event: StepSucceeded; readonly value: string | undefined }> | undefined {
  const found = outcomes === undefined ? undefined : findCandidate(outcomes, instance);
  if (outcomes === undefined || found?.event.inputHash !== inputHash) return undefined;
  const { seq } = found;
  const { decided: _, startedAt: __, waitedMs: _____, usage: ___, unpriced: ____, ...event } = found.event;
  const reused = { run: outcomes.run, seq };
  return outcomes.journal
    .readValue(outcomes.no, seq)
    .then((value) => ({ event: { ...event, costMicro: 0, reused }, value }));
}

function findCandidate({ byPath, downstream }: ReusableOutcomes, instance: Instance): Reusable | undefined {
  const found = byPath.get(instance.path);
  // Also at a later attempt: the process of the first one may have died before it was taken over.
  return found === undefined || downstream.has(instance) ? undefined : found;
}

export interface AskedBefore {
  readonly message: string;
  /** The shown data, as it is stored. */
  readonly shown: string;
}

/** The earlier answer, if the same was asked and shown, and nothing before it is done again. */
export async function findAnswer(
  { run, no, answers, downstream, journal }: ReusableOutcomes,
  instance: Instance,
  { message, shown }: AskedBefore,
) {
  const found = answers.get(instance.path);
  if (found === undefined || found.asked.message !== message || downstream.has(instance)) return undefined;
  if ((await journal.readValue(no, found.asked.seq)) !== shown) return undefined;
  const value = found.event.edited === true ? await journal.readValue(no, found.seq) : undefined;
  return { event: found.event, value, reused: { run, seq: found.seq } };
}
