import { AMOUNTS } from "../../../core/amounts.ts";
import { ChurnMap } from "../../../core/churn-map.ts";
import type { Amounts } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import { countedMicro } from "../../../core/interpreter/budget/paid-calls.ts";
import type { Budget, BudgetSum, BudgetUse } from "../../../ports/service/budgets.ts";
import { addUse, NOTHING } from "./use-tracker.ts";

/** An account that a run pays from: a shared budget on one day, or limits of its own. */
export interface BudgetAccount {
  /** Its name in questions and events. */
  readonly id: string;
  readonly name: string;
  readonly onExceeded: "stop" | "ask";
  /** In UTC. Empty if the budget has no days. */
  readonly day: string;
  /** The limits as they were set: a raise adds as much by default. */
  readonly set: Amounts;
  /** The limits with what people have added. */
  readonly limits: Amounts;
  readonly used: Amounts;
  /** Reserved for running attempts. */
  readonly reserved: ChurnMap<object, Amounts>;
}

/** A budget that runs share, on one day. */
export class SharedAccount implements BudgetAccount {
  readonly day: string;
  readonly reserved = new ChurnMap<object, Amounts>();
  budget: Budget;
  /** It limits nothing any more. */
  isRemoved = false;
  /** Undefined: nobody knows so far what was used of it before. */
  #before: BudgetUse | undefined;
  #since: BudgetUse = NOTHING;
  #raised: Amounts = {};
  /** False while the records are asked: attempts wait. */
  isReady = false;

  constructor(budget: Budget, day: string) {
    this.budget = budget;
    this.day = day;
  }

  /** The use of others and earlier is read once: what is noted later is counted here already. */
  read({ use, raised }: BudgetSum): void {
    this.#before ??= use;
    this.#raised = raised;
    this.isReady = true;
  }

  get used(): BudgetUse {
    return addUse(this.#before ?? NOTHING, this.#since);
  }

  get id(): string {
    return this.budget.id;
  }

  get name(): string {
    return nameOf(this.budget);
  }

  get onExceeded(): "stop" | "ask" {
    return this.budget.onExceeded;
  }

  get set(): Amounts {
    return this.budget.limits;
  }

  get limits(): Amounts {
    return addAmounts(this.budget.limits, this.#raised);
  }

  add(use: BudgetUse): void {
    this.#since = addUse(this.#since, use);
  }
}

/** Limits of one run that a person may raise. What is used stands in its state; tries count when they begin. */
export class OwnAccount implements BudgetAccount {
  readonly id = "run";
  readonly name = "What the run may use";
  readonly onExceeded = "ask";
  readonly day = "";
  readonly set: Amounts;
  readonly reserved = new ChurnMap<object, Amounts>();
  readonly #state: RunState;
  #tries: number;

  constructor(state: RunState, tries: number) {
    this.#state = state;
    this.set = state.budget.set;
    this.#tries = tries;
  }

  get limits(): Amounts {
    return this.#state.budget.asks ?? {};
  }

  get used(): Amounts {
    const { budget, now, startedAt } = this.#state;
    return { cost: countedMicro(budget), tokens: budget.tokens, tries: this.#tries, duration: now - startedAt };
  }

  addTries(count: number): void {
    this.#tries += count;
  }
}

/** Adds to the amounts that are limited. */
function addAmounts(limits: Amounts, by: Amounts): Amounts {
  return Object.fromEntries(
    AMOUNTS.flatMap((of) => {
      const limit = limits[of];
      return limit === undefined ? [] : [[of, limit + (by[of] ?? 0)]];
    }),
  );
}

/** Limits that are asked about, as they are when the question is put: `cost=190000,tokens=5`. */
export function writeLimits(limits: Amounts, of: readonly (keyof Amounts)[]): string {
  return of.map((each) => `${each}=${limits[each] ?? 0}`).join(",");
}

/** The limits that nobody has raised since. */
export function findUnraised(limits: Amounts, written: string): readonly (keyof Amounts)[] {
  const then = new Map(written.split(",").map((each) => each.split("=") as [string, string]));
  return AMOUNTS.filter((of) => then.has(of) && (limits[of] ?? 0) <= Number(then.get(of)));
}

export function sumReserved({ reserved }: BudgetAccount, of: keyof Amounts): number {
  let sum = 0;
  for (const amounts of reserved.values()) sum += amounts[of] ?? 0;
  return sum;
}

/** The name as people read it. */
function nameOf({ workflow, tenantId, per }: Pick<Budget, "workflow" | "tenantId" | "per">): string {
  const what = workflow === undefined ? "all workflows" : `the workflow "${workflow}"`;
  const whose = tenantId === undefined ? "" : ` of the tenant "${tenantId}"`;
  return `The budget of ${what}${whose}${per === "day" ? " for today (UTC)" : ""}`;
}
