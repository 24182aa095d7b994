import { AMOUNTS, isNear } from "../../../core/amounts.ts";
import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import type { Amounts, Event } from "../../../core/history/events.ts";
import { isBudgetAsked } from "../../../core/interpreter/budget-question.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { Budget, Budgets, BudgetUse } from "../../../ports/budgets.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { RunDriver } from "../run-driver.ts";
import { type Account, type Bound, givesTryBack, toShares } from "./account.ts";
import { decideShares } from "./decide-shares.ts";
import { MostSeen, type OfAttempt } from "./most-seen.ts";
import { type Purse, SharedPurse } from "./purse.ts";
import { RunPurse } from "./run-purse.ts";
import { NOTHING, UseTracker } from "./use-tracker.ts";

/** An attempt that wants to begin. */
export interface Applicant {
  readonly driver: RunDriver;
  readonly path: string;
  readonly attempt: number;
}

export type Admission =
  /** With what it may spend, where money is limited. */
  | { readonly kind: "go"; readonly maxCostMicro?: number }
  | { readonly kind: "hold"; readonly purses: readonly Purse[] }
  | { readonly kind: "exceeded"; readonly purse: Purse; readonly of: readonly (keyof Amounts)[] };

export interface BudgetNear {
  readonly purse: SharedPurse;
  readonly of: keyof Amounts;
  readonly limit: number;
  readonly used: number;
}

/** What a run in memory has used is written down this often, for those who look. */
const NOTE_EVERY_MS = 1_000;

/**
 * What is left of budgets that runs share, in the process that drives all of them: the record of what runs have used, and what
 * is promised to attempts that fly. Promises die with the process; what was used comes from the journal.
 */
export class BudgetLedger {
  readonly #clock: Clock;
  readonly #near: (driver: RunDriver, near: BudgetNear) => void;
  readonly #failed: (error: unknown) => void;
  readonly #accounts = new Map<RunDriver, Account>();
  readonly #purses = new Map<string, SharedPurse>();
  readonly #seen = new MostSeen();
  records: Budgets | undefined;

  constructor(clock: Clock, near: (driver: RunDriver, near: BudgetNear) => void, failed: (error: unknown) => void) {
    this.#clock = clock;
    this.#near = near;
    this.#failed = failed;
  }

  /** Before the first commit of a run: from now on its shares are looked for after a crash. */
  bind(run: {
    readonly runId: string;
    readonly workflow: string;
    readonly tenantId: string | undefined;
  }): readonly Bound[] {
    const budgets = this.records?.applying(run) ?? [];
    if (budgets.length > 0) this.records?.note(run.runId, toShares(new UseTracker(), budgets, this.#today()), 0);
    return budgets;
  }

  /** The budgets of a run that has begun. */
  boundTo(runId: string): readonly Bound[] {
    const ids = new Set(this.records?.sharesOf(runId).map(({ budget }) => budget));
    return [...ids].flatMap((id) => this.records?.find(id) ?? []);
  }

  /** `isNew`: none of its tries has begun. */
  enroll(
    driver: RunDriver,
    { budgets, tracker, isNew }: { budgets: readonly Bound[]; tracker: UseTracker; isNew: boolean },
  ): void {
    const { asks } = driver.state.budget;
    if (budgets.length === 0 && asks === undefined) return;
    const own = asks === undefined ? undefined : new RunPurse(driver.state, isNew ? 0 : driver.state.budget.tries);
    this.#accounts.set(driver, { driver, budgets, tracker, own, begun: new Set(), notedAt: 0, notedSeq: 0 });
  }

  has(driver: RunDriver): boolean {
    return this.#accounts.has(driver);
  }

  /** Books what an event has used. */
  applied(driver: RunDriver, event: Event): void {
    const account = this.#accounts.get(driver);
    if (account === undefined) return;
    const added = account.tracker.observe(driver.state, event);
    if ("path" in event && "attempt" in event && event.attempt !== undefined) this.#settle(account, event);
    if (added === undefined) return;
    // Tries count when they are let go.
    this.#add(account, added.day, { ...added.use, tries: 0 });
  }

  #settle(account: Account, event: OfAttempt): void {
    const { driver } = account;
    const begun = `${event.path}@${event.attempt}`;
    if (!account.begun.has(begun) || event.type === "stepStarted") return;
    if (event.type === "costReported") return;
    this.#seen.note(driver, event);
    if (!isOver(event)) return;
    account.begun.delete(begun);
    if (!givesTryBack(event)) return;
    account.own?.addTries(-1);
    this.#add(account, this.#today(), { ...NOTHING, tries: -1 });
  }

  #add({ driver, budgets }: Account, day: string, use: BudgetUse): void {
    for (const bound of budgets) {
      const purse = this.#purseOf(bound, day);
      if (purse === undefined) continue;
      const before = purse.used;
      purse.add(use);
      for (const kind of AMOUNTS) {
        const limit = purse.limits[kind];
        if (limit === undefined || isNear(before[kind], limit) || !isNear(purse.used[kind], limit)) continue;
        this.#near(driver, { purse, of: kind, limit, used: purse.used[kind] });
      }
    }
  }

  /** Lets an attempt go and promises it its share of everything it pays from, or says why not. */
  admit(applicant: Applicant, heldPurses: ReadonlySet<Purse>): Admission {
    const account = this.#accounts.get(applicant.driver);
    if (account === undefined) return { kind: "go" };
    const purses = this.#pursesOf(account);
    const isHeld = purses.some((purse) => heldPurses.has(purse));
    const wish = {
      seen: this.#seen.of(applicant.driver, applicant.path),
      tooLittleMicro: applicant.driver.state.active.get(applicant.path)?.tooLittleMicro,
    };
    const shares = new Map<Purse, Amounts>();
    let mustWait = isHeld;
    for (const purse of purses) {
      const found = decideShares(purse, wish, this.#tasksAt(purse, account));
      if (found.exceeded.length > 0) return { kind: "exceeded", purse, of: found.exceeded };
      mustWait ||= found.mustWait;
      shares.set(purse, found.share);
    }
    if (mustWait) return { kind: "hold", purses };
    return this.#go(applicant, shares);
  }

  /** Of a shared budget only whether there is more than one: nobody counts all runs for each of their tasks. */
  #tasksAt(purse: Purse, account: Account): number {
    if (purse === account.own) return account.driver.state.tasksInFlight;
    let tasks = 0;
    for (const { driver, budgets } of this.#accounts.values()) {
      if (budgets.some(({ id }) => id === purse.id)) tasks += driver.state.tasksInFlight;
      if (tasks > 1) break;
    }
    return tasks;
  }

  #go(applicant: Applicant, shares: ReadonlyMap<Purse, Amounts>): Admission {
    for (const [purse, share] of shares) purse.reserved.set(applicant, share);
    const costs = [...shares.values()].flatMap(({ cost }) => cost ?? []);
    this.begun(applicant);
    return costs.length === 0 ? { kind: "go" } : { kind: "go", maxCostMicro: Math.min(...costs) };
  }

  /** Counts a try that begins, whatever is left. */
  begun({ driver, path, attempt }: Applicant): void {
    const account = this.#accounts.get(driver);
    if (account === undefined) return;
    account.begun.add(`${path}@${attempt}`);
    account.own?.addTries(1);
    this.#add(account, this.#today(), { ...NOTHING, tries: 1 });
  }

  /** What was promised is free again. */
  release(applicant: Applicant): void {
    const account = this.#accounts.get(applicant.driver);
    account?.own?.reserved.delete(applicant);
    for (const purse of this.#purses.values()) purse.reserved.delete(applicant);
  }

  isAsked(driver: RunDriver): boolean {
    return isBudgetAsked(driver.state);
  }

  /** A person adds to a shared budget. */
  raise(id: string, { budget, by }: { readonly budget: string; readonly by: Amounts }): void {
    const found = this.records?.find(budget);
    if (found === undefined) return;
    this.records?.raise(id, { budget, day: dayOf(found.per, this.#today()), by });
  }

  /** What the purse that a question was about has, as it is now. */
  purseFor(driver: RunDriver, id: string): Purse | undefined {
    const account = this.#accounts.get(driver);
    if (account === undefined) return undefined;
    return this.#pursesOf(account).find((purse) => purse.id === id);
  }

  /** After a commit: from time to time what was used is written down. */
  note(driver: RunDriver, isUrgent = false): void {
    const account = this.#accounts.get(driver);
    if (account === undefined || account.budgets.length === 0 || !driver.isDurable) return;
    const { seq } = driver.state;
    if (account.notedSeq === seq || (!isUrgent && this.#clock.now() - account.notedAt < NOTE_EVERY_MS)) return;
    account.notedAt = this.#clock.now();
    this.#tryTo(() => {
      this.records?.note(driver.runId, this.#sharesOf(account), seq);
      account.notedSeq = seq;
    });
  }

  /** The journals have it all: where it cannot be written down now no run is to suffer, and the next start counts again. */
  #tryTo(write: () => void): void {
    try {
      write();
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      this.#failed(error);
    }
  }

  /** The run has ended, durably. */
  end(driver: RunDriver): void {
    const account = this.#accounts.get(driver);
    if (account !== undefined && account.budgets.length > 0)
      this.#tryTo(() => this.records?.close(driver.runId, this.#sharesOf(account)));
    this.#accounts.delete(driver);
  }

  /** The run leaves memory. */
  leave(driver: RunDriver): void {
    this.note(driver, true);
    this.#accounts.delete(driver);
  }

  #sharesOf({ budgets, tracker }: Account) {
    return toShares(
      tracker,
      budgets.flatMap((bound) => this.#find(bound) ?? []),
      this.#today(),
    );
  }

  #pursesOf({ budgets, own }: Account): readonly Purse[] {
    const shared = budgets.flatMap((bound) => this.#refreshed(bound) ?? []);
    return own === undefined ? shared : [own, ...shared];
  }

  /** Limits may have been changed by anybody. */
  #refreshed(bound: Bound): SharedPurse | undefined {
    const purse = this.#purseOf(bound, this.#today());
    const budget = this.#find(bound);
    if (purse === undefined || budget === undefined) return undefined;
    purse.budget = budget;
    purse.raised = this.records?.sum(bound.id, purse.day).raised ?? {};
    return purse;
  }

  /** As it is now. Undefined: it was removed, and binds nobody any more. */
  #find({ id, createdAt }: Bound): Budget | undefined {
    const found = this.records?.find(id);
    return found?.createdAt === createdAt ? found : undefined;
  }

  #purseOf(bound: Bound, today: string): SharedPurse | undefined {
    const { id } = bound;
    const known = this.#purses.get(`${id} ${today}`) ?? this.#purses.get(`${id} `);
    if (known?.budget.createdAt === bound.createdAt) return known;
    const budget = this.#find(bound);
    if (budget === undefined || this.records === undefined) return undefined;
    const day = dayOf(budget.per, today);
    for (const [key, old] of this.#purses)
      if (old.day !== "" && old.day < day && old.reserved.size === 0) this.#purses.delete(key);
    const purse = new SharedPurse(budget, day, this.records.sum(id, day));
    this.#purses.set(`${id} ${day}`, purse);
    return purse;
  }

  #today(): string {
    return toIsoDay(this.#clock.now());
  }
}

function isOver({ type }: Event): boolean {
  return type === "stepSucceeded" || type === "stepFailed" || type === "stepInterrupted" || type === "approvalAsked";
}

function dayOf(per: "day" | "total", today: string): string {
  return per === "total" ? "" : today;
}
