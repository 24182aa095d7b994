import { AMOUNTS, eachAmount, isNear } from "../../../core/amounts.ts";
import { ChurnMap } from "../../../core/churn-map.ts";
import type { Amounts, Event } from "../../../core/history/events.ts";
import { toIsoDay } from "../../../core/iso-time.ts";
import type { Clock } from "../../../ports/clock.ts";
import {
  type Budget,
  type BudgetDay,
  type Budgets,
  type BudgetUse,
  NOBODY,
  type NotedShare,
  type Noting,
  type RunShare,
} from "../../../ports/service/budgets.ts";
import type { LiveRun } from "../live-run.ts";
import { type BudgetAccount, OwnAccount, SharedAccount } from "./budget-account.ts";
import { type Applicant, givesTryBack, type PayingRun, toRunShares } from "./paying-run.ts";
import { NOTHING, UseTracker } from "./use-tracker.ts";
import { type OfAttempt, UsualUse } from "./usual-use.ts";

interface LedgerParts {
  readonly clock: Clock;
  near(run: LiveRun, near: BudgetNear): void;
  failed(error: unknown): void;
  /** Others drive runs of the same records. */
  readonly workers?: { own(): string } | undefined;
}

interface Bound {
  readonly budgets: readonly Budget[];
  readonly shares: readonly NotedShare[];
}

interface Enrolled extends Partial<Bound>, Pick<PayingRun, "tracker"> {
  readonly budgets: readonly Budget[];
  /** No try of the run has begun. */
  readonly isNew: boolean;
  /** The records say that what the run uses is this process's. */
  readonly isHolder?: boolean;
}

export interface BudgetNear {
  readonly account: SharedAccount;
  readonly of: keyof Amounts;
  readonly limit: number;
  readonly used: number;
}

/** The use of a run in memory is written to the records this often, and what others wait for is read. */
const NOTE_EVERY_MS = 1_000;
/** How soon the records are asked again for what others may give back. */
const ASK_AGAIN_MS = 100;

/** Drives all runs of its data. */
const ALONE = "owner";

/**
 * The accounts of budgets, of runs and of those that runs share, in a process that drives some runs or all: what they have used. It
 * comes from the journal. Of a shared budget a process may use what it has leased, which is everything if it is the only one, so
 * that most attempts ask no other process.
 */
export class BudgetLedger {
  readonly #clock: Clock;
  readonly #near: (run: LiveRun, near: BudgetNear) => void;
  readonly #failed: (error: unknown) => void;
  readonly #payers = new ChurnMap<LiveRun, PayingRun>();
  readonly #accounts = new Map<string, SharedAccount>();
  readonly #usual = new UsualUse();
  /** Writes of the records, one after the other: what a run notes last is what stays. */
  #writing: Promise<void> = Promise.resolve();
  records: Budgets | undefined;
  /** Called when attempts that wait may begin. */
  hasRoom: () => void = () => {};
  /** What attempts under way will likely need. */
  inUse: (account: BudgetAccount) => Amounts = () => ({});
  readonly #workers: LedgerParts["workers"];
  #hasFailed = false;
  #isTicking = false;
  #isClosed = false;

  constructor({ clock, near, failed, workers }: LedgerParts) {
    this.#clock = clock;
    this.#near = near;
    this.#failed = failed;
    this.#workers = workers;
  }

  /** The name of the process in leases. */
  get holder(): string {
    return this.#workers?.own() ?? ALONE;
  }

  get isShared(): boolean {
    return this.#workers !== undefined;
  }

  /** Others have taken over all runs: what this process held is no longer its own, and it notes nothing of them. */
  lose(): void {
    for (const run of [...this.#payers.keys()]) this.#payers.delete(run);
    this.#accounts.clear();
  }

  /** Called before the first commit of a run: from now on its use is reconciled after a crash. */
  async bind(run: {
    readonly runId: string;
    readonly workflow: string;
    readonly tenantId: string | undefined;
  }): Promise<Pick<Enrolled, "budgets" | "isHolder">> {
    const { records } = this;
    const budgets = (await records?.applying(run)) ?? [];
    const nothing = toRunShares(new UseTracker(), budgets, this.#today());
    const isHolder = budgets.length === 0 || (await records?.begin(run.runId, nothing, this.holder)) === true;
    return { budgets: await this.#load(budgets), isHolder };
  }

  /** The budgets of a run that has begun, and what is noted of it. */
  async boundTo(runId: string): Promise<Bound> {
    const { records } = this;
    const shares = (await records?.sharesOf(runId)) ?? [];
    const budgets = await Promise.all([...new Set(shares.map(({ budget }) => budget))].map((id) => records?.find(id)));
    return { budgets: await this.#load(budgets.flatMap((budget) => budget ?? [])), shares };
  }

  async #load(budgets: readonly Budget[]): Promise<readonly Budget[]> {
    const accounts = budgets.map((budget) => this.#accountOf(budget, this.#today()));
    if (!accounts.every(({ isReady }) => isReady)) await this.#writing;
    return budgets;
  }

  enroll(run: LiveRun, { budgets, shares, tracker, isNew, isHolder }: Enrolled): void {
    const { asks, limitMicro, tries } = run.state.budget;
    const hasOwn = asks !== undefined || limitMicro !== undefined;
    if (budgets.length === 0 && !hasOwn) return;
    const own = hasOwn ? new OwnAccount(run.state, isNew ? 0 : tries) : undefined;
    const begun = new Set<string>();
    const isTakenUp = isHolder === true || !this.isShared || budgets.length === 0;
    const payer = { run, budgets, tracker, own, begun, noted: new Map(), notedAt: 0, notedSeq: 0, isTakenUp };
    this.#payers.set(run, payer);
    if (!isNew && budgets.length > 0) this.#takeUp(payer, shares ?? []);
  }

  /** What the process before has used and not noted does not come from the lease of this one. */
  #takeUp(payer: PayingRun, known: readonly NotedShare[]): void {
    const shares = this.#sharesOf(payer);
    for (const share of shares) payer.noted.set(keyOf(share), share.use);
    const stored = new Map(known.map((share) => [keyOf(share), share.use]));
    const isNoted = shares.every((share) => isSame(share.use, stored.get(keyOf(share))));
    if (isNoted && !this.isShared) return;
    const { runId, state } = payer.run;
    const by = { holder: this.holder, upToSeq: state.seq, isTakenUp: true };
    payer.isTakenUp = !this.isShared;
    let held: Pick<Noting, "ifHeldBy"> =
      known.length === 0 ? {} : { ifHeldBy: [NOBODY, ...known.map(({ holder }) => holder)] };
    this.#writeUntilDone(async () => {
      if (this.#payers.get(payer.run) !== payer) return true;
      const isNoted = await this.records?.note(runId, shares, { ...by, ...held });
      // A process that has slept does not ask again: it learns first that it has lost its runs.
      held = {};
      if (isNoted === false) return false;
      payer.isTakenUp = true;
      this.hasRoom();
      return true;
    });
  }

  has(run: LiveRun): boolean {
    return this.#payers.has(run);
  }

  limitsMoney(run: LiveRun): boolean {
    const payer = this.#payers.get(run);
    if (payer === undefined) return false;
    return payer.own?.limits.cost !== undefined || payer.budgets.some(({ limits }) => limits.cost !== undefined);
  }

  /** Books the use of an event. */
  applied(run: LiveRun, event: Event): void {
    const payer = this.#payers.get(run);
    if (payer === undefined) return;
    const added = payer.tracker.observe(run.state, event);
    if ("path" in event && "attempt" in event && event.attempt !== undefined) this.#settle(payer, event);
    if (added === undefined) return;
    // Tries are counted when they begin.
    this.#add(payer, added.day, { ...added.use, tries: 0 });
  }

  #settle(payer: PayingRun, event: OfAttempt): void {
    const { run } = payer;
    const begun = `${event.path}@${event.attempt}`;
    if (!payer.begun.has(begun) || !isOver(event)) return;
    this.#usual.note(run, event);
    payer.begun.delete(begun);
    if (!givesTryBack(event)) return;
    payer.own?.addTries(-1);
    this.#add(payer, this.#today(), { ...NOTHING, tries: -1 });
  }

  #add({ run, budgets }: PayingRun, day: string, use: BudgetUse): void {
    for (const budget of budgets) {
      const account = this.#accountOf(budget, day);
      if (account.isRemoved) continue;
      const before = account.used;
      account.add(use);
      for (const kind of AMOUNTS) {
        const limit = account.limits[kind];
        if (limit === undefined || isNear(before[kind], limit) || !isNear(account.used[kind], limit)) continue;
        this.#near(run, { account, of: kind, limit, used: account.used[kind] });
      }
    }
  }

  /** What a run pays from. Undefined: it must wait for the records. */
  accountsOf(run: LiveRun): readonly BudgetAccount[] | undefined {
    const payer = this.#payers.get(run);
    if (payer === undefined) return [];
    const accounts = this.#accountsOf(payer);
    const isReady = accounts.every((account) => !(account instanceof SharedAccount) || account.isReady);
    return payer.isTakenUp && isReady ? accounts : undefined;
  }

  pays(run: LiveRun, account: BudgetAccount): boolean {
    const payer = this.#payers.get(run);
    return account instanceof SharedAccount
      ? payer?.budgets.some(({ id }) => id === account.id) === true
      : payer?.own === account;
  }

  /** What attempts of a task's kind use on the average. Undefined: none has ended. */
  usualOf({ run, path }: Applicant): Amounts | undefined {
    return this.#usual.of(run, path);
  }

  /** What calls of runs under way may have cost that were cut off. It counts as used. */
  doubtIn(account: BudgetAccount): number {
    let micro = 0;
    for (const { run } of this.#payers.values()) if (this.pays(run, account)) micro += run.state.budget.lostMicro;
    return micro;
  }

  /** True: other processes may give back some of it, and are asked. */
  getsMore(account: SharedAccount): boolean {
    const mayGetMore = account.mayGetMore(AMOUNTS);
    if (mayGetMore) this.#askForMore(account);
    return mayGetMore;
  }

  /** Counts a try that begins, even if nothing is left. */
  begun({ run, path, attempt }: Applicant): void {
    const payer = this.#payers.get(run);
    if (payer === undefined) return;
    payer.begun.add(`${path}@${attempt}`);
    payer.own?.addTries(1);
    this.#add(payer, this.#today(), { ...NOTHING, tries: 1 });
  }

  /**
   * A person adds to a shared budget, once for each id. Attempts wait until it is written. A death before that asks again. `by` is
   * asked when the records have said what others have added.
   */
  raise(id: string, { account, by }: { readonly account: SharedAccount; by(): Amounts }): void {
    const { records } = this;
    if (records === undefined) return;
    account.isReady = false;
    this.#write(async () => {
      await records.raise(id, { budget: account.id, day: account.day, by: by() });
      await this.#takeLease(account);
    });
  }

  /** The account that a question was about. */
  accountFor(run: LiveRun, id: string): BudgetAccount | undefined {
    const payer = this.#payers.get(run);
    if (payer === undefined) return undefined;
    return this.#accountsOf(payer).find((account) => account.id === id);
  }

  /** Called after a commit. Writes the use to the records from time to time. */
  note(run: LiveRun, isUrgent = false): void {
    const payer = this.#payers.get(run);
    if (payer === undefined || payer.budgets.length === 0 || !run.isDurable) return;
    const { seq } = run.state;
    if (payer.notedSeq === seq || (!isUrgent && this.#clock.now() - payer.notedAt < NOTE_EVERY_MS)) return;
    // Another process has begun a run with its id, and this one has committed its first event.
    if (!payer.isTakenUp && payer.noted.size === 0) this.#takeUp(payer, []);
    if (!payer.isTakenUp) return;
    payer.notedAt = this.#clock.now();
    const shares = this.#sharesOf(payer);
    this.#write(async () => {
      await this.records?.note(run.runId, shares, { ...this.#asHolder(), upToSeq: seq });
      payer.notedSeq = seq;
      this.#noted(payer, shares);
    });
  }

  /** Resolves when everything is written that was to be written so far, or has failed. */
  written(): Promise<void> {
    return this.#writing;
  }

  /** A failing write harms no run: the journals have it all, and the next start counts again. */
  #write(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(write).catch((error: unknown) => {
      this.#hasFailed = true;
      this.#failed(error);
    });
  }

  /** Only this process writes this, and others wait for what it says. */
  #writeUntilDone(write: () => Promise<boolean>): void {
    this.#write(async () => {
      let isDone = false;
      try {
        isDone = await write();
      } finally {
        if (!isDone) this.#clock.wakeAt(this.#clock.now() + NOTE_EVERY_MS, () => this.#writeUntilDone(write));
      }
    });
  }

  /** Only of runs that are its own: a process that has slept does not undo what the next one has noted. */
  #asHolder(): Omit<Noting, "upToSeq"> {
    const { holder } = this;
    return this.isShared ? { holder, ifHeldBy: [holder] } : { holder };
  }

  #noted(payer: PayingRun, shares: readonly RunShare[]): void {
    for (const share of shares) {
      const before = payer.noted.get(keyOf(share)) ?? NOTHING;
      payer.noted.set(keyOf(share), share.use);
      const use = { ...share.use, ...eachAmount((of) => share.use[of] - before[of]) };
      const budget = payer.budgets.find(({ id }) => id === share.budget);
      if (budget !== undefined) this.#accounts.get(accountKeyOf(budget, share.day))?.noted(use);
    }
  }

  /** After what is to be written before. Nothing is admitted meanwhile: the lease may become smaller. */
  #lease(account: SharedAccount): void {
    account.isReady = false;
    // A process that drives no runs begins some for others, and holds nothing.
    if (account.isAsking || this.holder === NOBODY || this.#isClosed) return;
    account.isAsking = true;
    this.#write(() => this.#takeLease(account));
    if (this.isShared && !this.#isTicking) this.#tickLater();
  }

  async #takeLease(account: SharedAccount): Promise<void> {
    account.isAsking = false;
    const { id: budget, day, wants, wasWanted } = account;
    account.wants = false;
    try {
      const inUse = account.inUse(this.inUse(account));
      const lease = await this.records?.lease({
        budget,
        day,
        holder: this.holder,
        inUse,
        wants,
        keepsHalf: !wasWanted,
      });
      if (lease === undefined) account.isRemoved = true;
      else account.take(lease, this.#clock.now());
    } catch (error) {
      this.#clock.wakeAt(this.#clock.now() + NOTE_EVERY_MS, () => this.hasRoom());
      throw error;
    }
    this.hasRoom();
  }

  #askForMore(account: SharedAccount): void {
    if (account.wants) return;
    account.wants = true;
    const now = this.#clock.now();
    // A clock that was set back must not make it wait for longer.
    const askAt = Math.max(now, Math.min(now, account.leasedAt) + ASK_AGAIN_MS);
    this.#clock.wakeAt(askAt, () => this.#lease(account));
  }

  #tickLater(): void {
    this.#isTicking = true;
    this.#clock.wakeAt(this.#clock.now() + NOTE_EVERY_MS, () => {
      this.#write(() => this.#giveBack());
      if (this.#isClosed) this.#isTicking = false;
      else this.#tickLater();
    });
  }

  /** Others wait for what this process does not use. */
  async #giveBack(): Promise<void> {
    const wanted = new Set((await this.records?.wantedOf(this.holder))?.map(keyOf));
    for (const account of this.#accounts.values()) {
      const isWanted = wanted.has(keyOf({ budget: account.id, day: account.day }));
      account.wasWanted = isWanted;
      if (!isWanted && !account.isInLine) continue;
      // What is used and not noted looks as if it might still be given back: all would wait for each other.
      for (const { run, budgets } of this.#payers.values())
        if (budgets.some(({ id }) => id === account.id)) this.note(run, true);
      if (!account.wants) this.#lease(account);
    }
  }

  /** No run is driven here any more. What could not be noted is found in the journal: until then no other process may use it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.isShared && !this.#hasFailed) this.#write(async () => this.records?.release(this.holder));
    await this.#writing;
  }

  /** Reads the budgets as they are set now, by whatever process. Undefined: no run has any. */
  refresh(): Promise<void> | undefined {
    return this.#accounts.size === 0 ? undefined : this.#refreshAll();
  }

  async #refreshAll(): Promise<void> {
    for (const account of this.#accounts.values()) {
      const budget = await this.records?.find(account.id);
      account.isRemoved = budget?.createdAt !== account.budget.createdAt;
      if (budget !== undefined && !account.isRemoved) {
        const isChanged = AMOUNTS.some((of) => budget.limits[of] !== account.budget.limits[of]);
        account.budget = budget;
        if (isChanged) account.isReady = false;
      }
      if (account.isReady || account.isRemoved) continue;
      this.#lease(account);
      await this.#writing;
    }
  }

  /** The run has ended, durably. */
  end(run: LiveRun): void {
    const payer = this.#payers.get(run);
    this.#payers.delete(run);
    if (payer === undefined || payer.budgets.length === 0) return;
    const shares = this.#sharesOf(payer);
    const { holder } = this;
    this.#writeUntilDone(async () => {
      // The process that committed the end knows all that the run has used.
      await this.records?.close(run.runId, shares, { holder, isTakenUp: !payer.isTakenUp });
      this.#noted(payer, shares);
      return true;
    });
  }

  leave(run: LiveRun): void {
    this.note(run, true);
    this.#payers.delete(run);
  }

  #sharesOf({ budgets, tracker }: PayingRun) {
    const today = this.#today();
    const known = budgets.filter((budget) => !this.#accountOf(budget, today).isRemoved);
    return toRunShares(tracker, known, today);
  }

  #accountsOf({ budgets, own }: PayingRun): readonly BudgetAccount[] {
    const today = this.#today();
    const shared = budgets.map((budget) => this.#accountOf(budget, today)).filter(({ isRemoved }) => !isRemoved);
    return own === undefined ? shared : [own, ...shared];
  }

  #accountOf(budget: Budget, today: string): SharedAccount {
    const day = budget.per === "total" ? "" : today;
    const key = accountKeyOf(budget, day);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    for (const [name, old] of this.#accounts) if (old.day !== "" && old.day < day) this.#accounts.delete(name);
    const account = new SharedAccount(budget, day);
    this.#accounts.set(key, account);
    this.#lease(account);
    return account;
  }

  #today(): string {
    return toIsoDay(this.#clock.now());
  }
}

function keyOf({ budget, day }: BudgetDay): string {
  return `${budget} ${day}`;
}

/** A budget that is removed and set again is another one. */
function accountKeyOf({ id, createdAt }: Budget, day: string): string {
  return `${id} ${createdAt} ${day}`;
}

function isSame(use: BudgetUse, other: BudgetUse | undefined): boolean {
  return other !== undefined && use.unpriced === other.unpriced && AMOUNTS.every((of) => use[of] === other[of]);
}

function isOver({ type }: Event): boolean {
  return type === "stepSucceeded" || type === "stepFailed" || type === "stepInterrupted" || type === "approvalAsked";
}
