import type { RunState } from "../../core/history/run-state.ts";
import { nextTimerAt, runStatus } from "../../core/interpreter/run-status.ts";
import type { NewEvent, NewRun, RunPatch, RunRecord } from "../../ports/journal.ts";

/** What the runs table says of a run. */
export type RunRowFields = Omit<RunRecord, keyof NewRun | "no" | "lastSeq">;

/** A run's cost is brought up to date this often while it runs: each time is a second page in the commit. */
const SHOW_COST_EVERY_MS = 1_000;

/** The row of a run in the runs table, as the commits of its driver have left it. */
export class RunRow {
  #shown: RunRowFields;
  #costShownAt = 0;

  constructor(shown: RunRowFields) {
    this.#shown = shown;
  }

  get current(): RunRowFields {
    return this.#shown;
  }

  /** Only what a reader of the runs table would see change. */
  takePatch(state: RunState, events: readonly NewEvent[]): RunPatch | undefined {
    const last = events.at(-1)?.event;
    const end = last?.type === "runFinished" ? last : undefined;
    const was = this.#shown;
    const status = runStatus(state);
    const parked = status === "waiting" || status === "awaiting_approval";
    const wakeAt = parked ? nextTimerAt(state) : undefined;
    const openApprovals = end === undefined ? state.approvalsOpen : 0;
    const hasMoved =
      status !== was.status || parked !== was.parked || wakeAt !== was.wakeAt || openApprovals !== was.openApprovals;
    const costMicro = state.budget.spentMicro;
    const showsCost = costMicro !== was.costMicro && (hasMoved || state.now - this.#costShownAt >= SHOW_COST_EVERY_MS);
    if (!hasMoved && !showsCost && end === undefined) return undefined;
    if (showsCost) this.#costShownAt = state.now;
    const patch: RunPatch = {
      ...(status === was.status ? {} : { status }),
      ...(parked === was.parked ? {} : { parked }),
      ...(wakeAt === was.wakeAt ? {} : { wakeAt: wakeAt ?? null }),
      ...(openApprovals === was.openApprovals ? {} : { openApprovals }),
      ...(showsCost ? { costMicro } : {}),
      ...(was.status === "queued" ? { startedAt: state.startedAt } : {}),
      ...(end === undefined ? {} : { completedAt: end.at, error: endError(end) }),
    };
    this.#shown = patched(was, patch);
    return patch;
  }
}

function patched(was: RunRowFields, { wakeAt, error, ...changes }: RunPatch): RunRowFields {
  const { wakeAt: wokeAt, error: erred, ...others } = was;
  const nextWakeAt = wakeAt === undefined ? wokeAt : (wakeAt ?? undefined);
  const nextError = error === undefined ? erred : (error ?? undefined);
  return { ...others, ...changes, wakeAt: nextWakeAt, error: nextError };
}

function endError(end: {
  readonly code?: string;
  readonly message?: string;
}): { code: string; message: string } | null {
  return end.code === undefined ? null : { code: end.code, message: end.message ?? end.code };
}
