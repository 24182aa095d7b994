import type { Event } from "../../../core/history/events.ts";
import type { Budget, RunShare } from "../../../ports/budgets.ts";
import type { LiveRun } from "../live-run.ts";
import type { OwnAccount } from "./budget-account.ts";
import { NOTHING, type UseTracker } from "./use-tracker.ts";

/** A shared budget that binds a run. One that is removed and set again is another one. */
export type Bound = Pick<Budget, "id" | "createdAt">;

/** What one run in memory pays from, and what it has used. */
export interface PayingRun {
  readonly run: LiveRun;
  /** The shared budgets that bind it. */
  readonly budgets: readonly Bound[];
  readonly tracker: UseTracker;
  /** Limits of its own that a person may raise. */
  readonly own: OwnAccount | undefined;
  /** Attempts that were let go, `path@attempt`. */
  readonly begun: Set<string>;
  notedAt: number;
  notedSeq: number;
}

/** As they are stored: a budget that knows no days has one for all of them. */
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

/** Tries that count for nothing after all: they were laid down, have only asked, or took over what another run had. */
export function givesTryBack(event: Event): boolean {
  if (event.type === "approvalAsked") return event.attempt !== undefined;
  if (event.type === "stepInterrupted") return event.cause === "parked" || event.hasBegun === false;
  return event.type === "stepSucceeded" && event.reused !== undefined;
}
