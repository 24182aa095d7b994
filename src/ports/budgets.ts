import type { Amounts } from "../core/history/events.ts";

/** What the runs of a workflow, of a tenant or of everybody may use together, in a day or in all. */
export interface Budget {
  readonly id: string;
  /** Absent: of every workflow. */
  readonly workflow?: string;
  /** Absent: of everybody. */
  readonly tenantId?: string;
  /** A day is one in UTC. */
  readonly per: "day" | "total";
  readonly limits: Amounts;
  readonly onExceeded: "stop" | "ask";
  /** Who is told when 80 % are used. */
  readonly webhook?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Money in micro-dollars, time in milliseconds. */
export interface BudgetUse {
  readonly cost: number;
  readonly tokens: number;
  readonly tries: number;
  readonly duration: number;
  /** Something had no known price: the cost is a lower bound. */
  readonly unpriced: boolean;
}

/** What one run has used of one budget, on one day. */
export interface RunShare {
  readonly budget: string;
  /** `YYYY-MM-DD`; empty for a budget that knows no days. */
  readonly day: string;
  readonly use: BudgetUse;
}

/** A run that may still use something. */
export interface OpenShares {
  readonly run: string;
  /** Up to which event of the run its shares count. */
  readonly upToSeq: number;
  readonly budgets: readonly string[];
}

/**
 * Budgets that runs share, and what they have used of them. Anybody may set budgets; shares are written by the owner of the
 * data alone. Synchronous: between what is left and what is promised of it nobody else may come. Durable on return.
 */
export interface Budgets {
  /** Makes it, or changes the one of the same id. */
  put(budget: Budget): Budget;
  list(): readonly Budget[];
  find(id: string): Budget | undefined;
  /** With all that was used of it. False: there was none. */
  remove(id: string): boolean;
  /** Those that bind a run of this workflow and tenant. */
  applying(run: { readonly workflow: string; readonly tenantId?: string | undefined }): readonly Budget[];
  /** What all runs have used, and what people have added to the limits. */
  sum(budget: string, day: string): { readonly use: BudgetUse; readonly raised: Amounts };
  /** Adds to the limits, once for each id. */
  raise(id: string, raise: { readonly budget: string; readonly day: string; readonly by: Amounts }): void;
  /** The shares of a run as they are now. */
  note(run: string, shares: readonly RunShare[], upToSeq: number): void;
  sharesOf(run: string): readonly RunShare[];
  /** The run uses nothing more: its shares are only part of the sums from now on. */
  close(run: string, shares: readonly RunShare[]): void;
  open(): readonly OpenShares[];
}
