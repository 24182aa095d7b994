import type { Amounts } from "../../core/history/events.ts";

/** Limits that runs of a workflow, of a tenant or of all tenants share, for each day or in total. */
export interface Budget {
  readonly id: string;
  /** Absent: every workflow. */
  readonly workflow?: string;
  /** Absent: all. */
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

/** The holder of a share that was read from the journal of a dead process. */
export const NOBODY = "";

export interface NotedShare extends RunShare {
  /** The process that has noted it, or `NOBODY`. */
  readonly holder: string;
}

export interface BudgetDay {
  readonly budget: string;
  readonly day: string;
}

export interface LeaseWish extends BudgetDay {
  readonly holder: string;
  /** What it has used and not noted, and what it has reserved. */
  readonly inUse: Required<Amounts>;
  /** It cannot go on without more. */
  readonly wants: boolean;
  /** It may keep half of what it does not use, even if others want it. */
  readonly keepsHalf: boolean;
}

/** What a process may use of a budget without asking. */
export interface BudgetLease extends BudgetSum {
  /** Beyond what is noted. Negative where more was used than there was. */
  readonly left: Required<Amounts>;
  /** What may still come: others hold it, or were first. */
  readonly elsewhere: Required<Amounts>;
  /** It is in the line of those that wait for more. */
  readonly isWaiting: boolean;
}

/** Who notes the use of a run. */
export interface Noting {
  readonly holder: string;
  readonly upToSeq: number;
  /** Another process has used it: it does not come from the lease of this one. */
  readonly isTakenUp?: boolean;
  /** Does nothing where another process has noted since. */
  readonly ifHeldBy?: readonly string[];
}

export interface BudgetSum {
  readonly use: BudgetUse;
  /** What people have added to the limits. */
  readonly raised: Amounts;
}

/** A run that has not ended, with its budgets. */
interface OpenShares {
  readonly run: string;
  /** The last event of the run that its shares count. */
  readonly upToSeq: number;
  readonly budgets: readonly string[];
}

/**
 * Budgets that runs share, and their use. Any process may set budgets. Those that drive runs lease parts of them: the noted use of
 * all runs and what all processes may use beyond it are never more than the limit. Writes are durable when they resolve.
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
  /**
   * Gives a process all that is left if it is the only one. Of several, the one that has waited longest gets what is free; one that
   * waits gives back all that it does not use, and one that does not wait half of it, or all. Undefined: there is no such budget.
   */
  lease(wish: LeaseWish): Promise<BudgetLease | undefined>;
  /** The processes that have leased something. */
  holders(): Promise<readonly string[]>;
  /** What others wait for. */
  wantedOf(holder: string): Promise<readonly BudgetDay[]>;
  /** A process has ended, and the use of its runs is noted: nothing is held for it any more. */
  release(holder: string): Promise<void>;
  /**
   * A run is about to begin. False if another process has begun one with its id: who notes then is who commits its first event.
   */
  begin(run: string, shares: readonly RunShare[], holder: string): Promise<boolean>;
  /**
   * The shares of a run as they are now: what is new in them comes from the lease, in the same commit. Those of a budget that was
   * removed are left out. False if another process has noted.
   */
  note(run: string, shares: readonly RunShare[], by: Noting): Promise<boolean>;
  sharesOf(run: string): Promise<readonly NotedShare[]>;
  /** The run has ended: from now on its shares are only part of the sums. */
  close(run: string, shares: readonly RunShare[], by?: Omit<Noting, "upToSeq">): Promise<void>;
  /** Of this process. Absent: of all. */
  open(holder?: string): Promise<readonly OpenShares[]>;
}
