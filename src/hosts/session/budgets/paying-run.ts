import type { Event } from "../../../core/history/events.ts";
import type { Instance } from "../../../core/history/run-state.ts";
import type { Budget, BudgetUse, RunShare } from "../../../ports/service/budgets.ts";
import type { LiveRun } from "../live-run.ts";
import type { OwnAccount } from "./budget-account.ts";
import { NOTHING, type UseTracker } from "./use-tracker.ts";

export interface Applicant {
  readonly run: LiveRun;
  readonly path: string;
  readonly attempt: number;
}

/** An attempt in the hands of an executor. */
export interface Spender extends Applicant {
  readonly runId: string;
  readonly instance: Instance;
  readonly controller: Pick<AbortController, "signal">;
  readonly hasEnded: boolean;
  readonly isAbandoned: boolean;
}

/** One run in memory: the accounts that it pays from, and its use. */
export interface PayingRun {
  readonly run: LiveRun;
  /** The shared budgets that bind it. */
  readonly budgets: readonly Budget[];
  readonly tracker: UseTracker;
  /** Limits of its own that a person may raise. */
  readonly own: OwnAccount | undefined;
  /** Attempts that have begun, `path@attempt`. */
  readonly begun: Set<string>;
  /** Its use as the records have it, by budget and day. */
  readonly noted: Map<string, BudgetUse>;
  notedAt: number;
  notedSeq: number;
  /**
   * The records say that its use is this process's. Until then nothing of it is spent: if the process dies, only the use of the
   * runs that are known to be its own is read from the journal before others get what it held.
   */
  isTakenUp: boolean;
}

/** The use of a run as it is stored: by day, or in one row for a budget without days. */
export function toRunShares(
  tracker: UseTracker,
  budgets: readonly { readonly id: string; readonly per: "day" | "total" }[],
  today: string,
): readonly RunShare[] {
  const days = tracker.byDay.size === 0 ? [[today, NOTHING] as const] : [...tracker.byDay];
  return budgets.flatMap(({ id: budget, per }) =>
    per === "total" ? [{ budget, day: "", use: tracker.inAll }] : days.map(([day, use]) => ({ budget, day, use })),
  );
}

/** The try does not count: it was parked, has only asked, or reused an outcome of another run. */
export function givesTryBack(event: Event): boolean {
  if (event.type === "approvalAsked") return event.attempt !== undefined;
  if (event.type === "stepInterrupted") return event.cause === "parked" || event.hasBegun === false;
  return event.type === "stepSucceeded" && event.reused !== undefined;
}
