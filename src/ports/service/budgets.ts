import type { Amounts } from "../../core/history/events.ts";

/** Limits that runs of a workflow, of a tenant or of everybody share, for each day or in total. */
export interface Budget {
  readonly id: string;
  /** Absent: every workflow. */
  readonly workflow?: string;
  /** Absent: everybody. */
  readonly tenantId?: string;
  /** A day is one in UTC. */
  readonly per: "day" | "total";
  readonly limits: Amounts;
  readonly onExceeded: "stop" | "ask";
  /** The address that is told when 80 % are used. */
  readonly webhook?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Money in micro-dollars, time in milliseconds. */
export interface BudgetUse extends Required<Amounts> {
  /** Whether something had no known price, so that the cost is a lower bound. */
  readonly unpriced: boolean;
}

/** The use of one budget by one run, on one day. */
export interface RunShare {
  readonly budget: string;
  /** `YYYY-MM-DD`; empty for a budget that knows no days. */
  readonly day: string;
  readonly use: BudgetUse;
}

export interface BudgetSum {
  readonly use: BudgetUse;
  /** What people have added to the limits. */
  readonly raised: Amounts;
}

/** A run that has not ended, with its budgets. */
export interface OpenShares {
  readonly run: string;
  /** The last event of the run that its shares count. */
  readonly upToSeq: number;
  readonly budgets: readonly string[];
}

/**
 * Budgets that runs share, and their use. Any process may set budgets; only the owner of the data writes shares. Writes are
 * durable when they resolve.
 */
export interface Budgets {
  /** Adds a budget, or changes the one with this id. */
  put(budget: Budget): Promise<Budget>;
  list(): Promise<readonly Budget[]>;
  find(id: string): Promise<Budget | undefined>;
  /** Removes its shares too. False if there was none. */
  remove(id: string): Promise<boolean>;
  /** Budgets that a run of this workflow and tenant must keep. */
  applying(run: { readonly workflow: string; readonly tenantId?: string | undefined }): Promise<readonly Budget[]>;
  /** The use of all runs, and what people have added to the limits. */
  sum(budget: string, day: string): Promise<BudgetSum>;
  /** Adds to the limits, once for each id. */
  raise(id: string, raise: { readonly budget: string; readonly day: string; readonly by: Amounts }): Promise<void>;
  /** The shares of a run as they are now. Those of a budget that was removed are left out. */
  note(run: string, shares: readonly RunShare[], upToSeq: number): Promise<void>;
  sharesOf(run: string): Promise<readonly RunShare[]>;
  /** The run has ended: from now on its shares are only part of the sums. */
  close(run: string, shares: readonly RunShare[]): Promise<void>;
  open(): Promise<readonly OpenShares[]>;
}
