import type { RunPlace } from "../../core/history/events.ts";
import type { RunState } from "../../core/history/run-state.ts";
import { findHeld } from "../../core/interpreter/attempt/crashes.ts";
import { computeUncertain } from "../../core/interpreter/budget/paid-calls.ts";
import { isParked, nextTimerAt, runStatus } from "../../core/interpreter/run-status.ts";
import type { NewEvent, NewRun, RunPatch, RunRecord } from "../../ports/journal.ts";

/** The columns of the runs table that change. */
export type RunRowFields = Omit<RunRecord, keyof NewRun | "no" | "lastSeq">;

/** The cost in the row is updated this often while the run goes on: each update is a second page in the commit. */
const SHOW_COST_EVERY_MS = 1_000;

/** What has been stored since is shown without another reason to write the row: a death leaves no more than this uncounted. */
const SHOW_BYTES_EVERY = 1024 * 1024;

/** A row of a short event, with what its keys take. */
const EVENT_BYTES = 200;

/** The row of a run in the runs table, as its last commit has left it. */
export class RunRow {
  #shown: RunRowFields;
  #costShownAt = 0;
  #storedBytes: number;
  /** A run that has been at rest has given its place away. */
  #hasLeft = false;

  constructor(shown: RunRowFields) {
    this.#shown = shown;
    this.#storedBytes = shown.storedBytes;
  }

  get current(): RunRowFields {
    return this.#shown;
  }

  /** The columns that have changed. Undefined: none has. */
  takePatch(state: RunState, events: readonly NewEvent[]): RunPatch | undefined {
    const last = events.at(-1)?.event;
    const end = last?.type === "runFinished" ? last : undefined;
    const was = this.#shown;
    const status = runStatus(state);
    const parked = isParked(state);
    const wakeAt = parked ? nextTimerAt(state) : undefined;
    const openApprovals = end === undefined ? state.approvalsOpen : 0;
    const held = end === undefined ? findHeld(state) : undefined;
    const error = end === undefined ? held && { code: held.code, message: held.message } : endError(end);
    const rests = end !== undefined || (parked && (state.isHeld || held !== undefined));
    const place = state.place && this.#movedInLine(state.place, state, { events, rests });
    const hasMoved =
      place !== undefined ||
      error?.message !== was.error?.message ||
      status !== was.status ||
      parked !== was.parked ||
      wakeAt !== was.wakeAt ||
      openApprovals !== was.openApprovals;
    const costMicro = state.budget.spentMicro;
    const uncertainMicro = computeUncertain(state.budget);
    const hasCost = costMicro !== was.costMicro || uncertainMicro !== was.uncertainMicro;
    const showsCost = hasCost && (hasMoved || state.now - this.#costShownAt >= SHOW_COST_EVERY_MS);
    for (const event of events) this.#storedBytes += sizeOf(event);
    const storedBytes = this.#storedBytes;
    const showsBytes = storedBytes - was.storedBytes >= SHOW_BYTES_EVERY;
    if (!hasMoved && !showsCost && !showsBytes && end === undefined) return undefined;
    if (showsCost) this.#costShownAt = state.now;
    const patch: RunPatch = {
      ...(status === was.status ? {} : { status }),
      ...(parked === was.parked ? {} : { parked }),
      ...(wakeAt === was.wakeAt ? {} : { wakeAt: wakeAt ?? null }),
      ...(openApprovals === was.openApprovals ? {} : { openApprovals }),
      ...(showsCost ? { costMicro, uncertainMicro } : {}),
      storedBytes,
      ...(place === undefined ? {} : { place }),
      ...(was.status === "queued" && state.root !== undefined ? { startedAt: state.startedAt } : {}),
      ...(end === undefined ? {} : { completedAt: end.at }),
      ...(error?.message === was.error?.message ? {} : { error: error ?? null }),
    };
    this.#shown = patched(was, patch);
    return patch;
  }

  /** In line it waits, rest or not; who is at rest otherwise has no place. */
  #movedInLine(
    place: RunPlace,
    { queued }: RunState,
    { events, rests }: { readonly events: readonly NewEvent[]; readonly rests: boolean },
  ): RunPatch["place"] {
    const joins = queued !== undefined && events.some(({ event }) => event === queued);
    const leaves = queued === undefined && (rests || place.waitMs !== undefined) && !this.#hasLeft;
    if (joins || leaves) this.#hasLeft = leaves;
    return joins || leaves ? { ...place, isOver: leaves } : undefined;
  }
}

function sizeOf({ event, value }: NewEvent): number {
  return EVENT_BYTES + (("bytes" in event ? event.bytes : undefined) ?? value?.length ?? 0);
}

/** Field by field: copying what is left of an object costs several times as much, and each run comes here twice. */
function patched(was: RunRowFields, patch: RunPatch): RunRowFields {
  const { wakeAt = was.wakeAt, error = was.error, uncertainMicro = was.uncertainMicro } = patch;
  return {
    status: patch.status ?? was.status,
    parked: patch.parked ?? was.parked,
    wakeAt: wakeAt ?? undefined,
    costMicro: patch.costMicro ?? was.costMicro,
    uncertainMicro,
    openApprovals: patch.openApprovals ?? was.openApprovals,
    storedBytes: patch.storedBytes ?? was.storedBytes,
    startedAt: patch.startedAt ?? was.startedAt,
    completedAt: patch.completedAt ?? was.completedAt,
    error: error ?? undefined,
  };
}

function endError(end: {
  readonly code?: string;
  readonly message?: string;
}): { code: string; message: string } | undefined {
  return end.code === undefined ? undefined : { code: end.code, message: end.message ?? end.code };
}
