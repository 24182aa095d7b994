import { AMOUNTS, eachAmount } from "../../../core/amounts.ts";
import type { Amounts } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import { countedMicro } from "../../../core/interpreter/budget/paid-calls.ts";
import type { Budget, BudgetLease, BudgetUse } from "../../../ports/service/budgets.ts";
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
  /** Used, or kept for other processes. */
  readonly taken: Amounts;
}

/** A budget that runs share, on one day. */
export class SharedAccount implements BudgetAccount {
  readonly day: string;
  budget: Budget;
  /** It limits nothing any more. */
  isRemoved = false;
  /** False while the records are asked: attempts wait. */
  isReady = false;
  isAsking = false;
  /** An attempt waits for what others hold. */
  wants = false;
  /** Others have waited for what this process holds, and got half of what it did not use. */
  wasWanted = false;
  leasedAt = Number.NEGATIVE_INFINITY;
  #lease: BudgetLease | undefined;
  /** What this process has used since, beyond what is noted. */
  #unnoted: BudgetUse = NOTHING;

  constructor(budget: Budget, day: string) {
    this.budget = budget;
    this.day = day;
  }

  /** What the records say now. */
  take(lease: BudgetLease, at: number): void {
    this.#lease = lease;
    this.leasedAt = at;
    this.isReady = true;
  }

  /** It has gone over into the records. */
  noted(use: BudgetUse): void {
    const negative = { ...use, ...eachAmount((of) => -use[of]) };
    this.#unnoted = addUse(this.#unnoted, negative);
    if (this.#lease === undefined) return;
    const { left } = this.#lease;
    this.#lease = {
      ...this.#lease,
      use: addUse(this.#lease.use, use),
      left: eachAmount((of) => left[of] - use[of]),
    };
  }

  get used(): BudgetUse {
    return addUse(this.#lease?.use ?? NOTHING, this.#unnoted);
  }

  get taken(): Amounts {
    const { limits } = this;
    return eachAmount((of) => (limits[of] ?? 0) - (this.#lease?.left[of] ?? 0) + this.#unnoted[of]);
  }

  /** What must stay with this process. `needed`: what its attempts under way will likely need. */
  inUse(needed: Amounts): Required<Amounts> {
    return eachAmount((of) => this.#unnoted[of] + (needed[of] ?? 0));
  }

  get isInLine(): boolean {
    return this.#lease?.isWaiting === true;
  }

  /** Others may give some of this back. */
  mayGetMore(of: readonly (keyof Amounts)[]): boolean {
    return of.some((each) => this.set[each] !== undefined && (this.#lease?.elsewhere[each] ?? 0) > 0);
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
    return addAmounts(this.budget.limits, this.#lease?.raised ?? {});
  }

  add(use: BudgetUse): void {
    this.#unnoted = addUse(this.#unnoted, use);
  }
}

/** Limits of one run. What is used stands in its state; tries count when they begin. */
export class OwnAccount implements BudgetAccount {
  readonly id = "run";
  readonly name = "What the run may use";
  readonly #state: RunState;
  #tries: number;

  constructor(state: RunState, tries: number) {
    this.#state = state;
    this.#tries = tries;
  }

  get onExceeded(): "stop" | "ask" {
    return this.#state.budget.asks === undefined ? "stop" : "ask";
  }

  get set(): Amounts {
    return this.#state.budget.set;
  }

  /** In a run that asks no person, all limits but money are the core's matter. */
  get limits(): Amounts {
    const { asks, limitMicro } = this.#state.budget;
    return asks ?? (limitMicro === undefined ? {} : { cost: limitMicro });
  }

  get used(): Amounts {
    const { budget, now, startedAt } = this.#state;
    return { cost: countedMicro(budget), tokens: budget.tokens, tries: this.#tries, duration: now - startedAt };
  }

  get taken(): Amounts {
    return this.used;
  }

  readonly day = "";

  addTries(count: number): void {
    this.#tries += count;
  }
}

function addAmounts(limits: Amounts, by: Amounts): Amounts {
  return Object.fromEntries(
    AMOUNTS.flatMap((of) => {
      const limit = limits[of];
      return limit === undefined ? [] : [[of, limit + (by[of] ?? 0)]];
    }),
  );
}

/** The name as people read it. */
function nameOf({ workflow, tenantId, per }: Pick<Budget, "workflow" | "tenantId" | "per">): string {
  const what = workflow === undefined ? "all workflows" : `the workflow "${workflow}"`;
  const whose = tenantId === undefined ? "" : ` of the tenant "${tenantId}"`;
  return `The budget of ${what}${whose}${per === "day" ? " for today (UTC)" : ""}`;
}
