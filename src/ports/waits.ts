import type { CapacityWait } from "./capacity.ts";

/** What attempts under way will likely take, in micro-dollars. */
export interface BudgetHold {
  /** The id of a budget that runs share. Absent: of all runs whose money is limited. */
  readonly budget?: string;
  readonly heldMicro: number;
  /** How many runs these attempts are of. */
  readonly runs: number;
  /** How many runs have attempts that wait for it. */
  readonly waiting: number;
}

/** What the attempt of a run that is first in line waits for. */
export interface BudgetWait {
  readonly run: string;
  /** In words. */
  readonly budget: string;
  /** Absent: it waits for something other than money. */
  readonly needsMicro?: number;
  /** What attempts under way will likely take of it, and of how many runs they are. */
  readonly heldMicro: number;
  readonly runs: number;
  /** Some of these runs. */
  readonly holders?: readonly string[];
}

/** What is reserved in a process, and what the named runs wait for. */
export interface BudgetView {
  readonly holds: readonly BudgetHold[];
  readonly waits: readonly BudgetWait[];
}

export const NO_BUDGETS: BudgetView = { holds: [], waits: [] };

export interface Waits extends BudgetView {
  readonly capacity: readonly CapacityWait[];
}
