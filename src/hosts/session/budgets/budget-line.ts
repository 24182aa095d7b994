import { AMOUNTS, eachAmount } from "../../../core/amounts.ts";
import { ChurnMap } from "../../../core/churn-map.ts";
import type { Amounts } from "../../../core/history/events.ts";
import { isInFinally } from "../../../core/interpreter/attempt/admission.ts";
import { budgetKeyOf, isBudgetAsked } from "../../../core/interpreter/budget/use-limits.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Asks } from "../../../ports/executor.ts";
import type { BudgetView, BudgetWait } from "../../../ports/waits.ts";
import type { LiveRun } from "../live-run.ts";
import { type BudgetAccount, SharedAccount } from "./budget-account.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { BudgetNotes } from "./budget-notes.ts";
import { type CallCost, decideMoney, decideUse } from "./decide-admission.ts";
import { askToRaise, type Short, showAccount, usualRaise, writeRaise } from "./explain-account.ts";
import type { Spender } from "./paying-run.ts";

/** What an attempt has of budgets while it is under way. */
interface Funds {
  /** What it will likely use. Money: set with its first call. */
  claims: Amounts;
  /** The most that its calls in flight may cost. */
  heldMicro: number;
  /** It is in line itself. */
  waits: boolean;
}

interface Holding {
  readonly budget: string | undefined;
  heldMicro: number;
  readonly runs: Set<string>;
  readonly waiting: Set<string>;
}

/** An attempt that wants to begin, or to send a call. */
export interface Wish {
  readonly task: Spender;
  /** Absent: it wants to begin. */
  readonly cost?: CallCost;
  /** Ends the wait. It is not called again. */
  readonly end: (answer: Answer) => void;
}

export type Answer =
  /** `micro`: what the call may cost. `short`: all that is left, and less than its bound. */
  | { readonly kind: "go"; readonly micro: number; readonly short?: Short | undefined }
  /** Nothing is left, and nothing comes back. */
  | { readonly kind: "short"; readonly short: Short }
  /** Another attempt of its run has asked a person. */
  | { readonly kind: "hold" }
  /** It was told to stop. */
  | { readonly kind: "stopped" };

/**
 * The line of all attempts that wait for budgets: to begin, or to send a call. First come, first served among those that share an
 * account; what has begun goes before what has not.
 */
export class BudgetLine {
  readonly #ledger: BudgetLedger;
  /** Each with the account for which it was last found to wait. */
  readonly #wishes = new Map<Wish, BudgetAccount | undefined>();
  readonly #funds = new ChurnMap<Spender, Funds>();
  /** Each is about to ask a person for its run: others of the run wait, since one question is enough. */
  readonly #askers = new Map<LiveRun, Spender>();
  readonly #notes: BudgetNotes;
  #isLooking = false;
  #mustLookAgain = false;

  constructor(ledger: BudgetLedger, clock: Clock) {
    this.#ledger = ledger;
    this.#notes = new BudgetNotes(clock, () => [...this.#wishes.keys()].map(({ task }) => task));
    ledger.hasRoom = () => this.look();
    ledger.inUse = (account) => eachAmount((of) => this.#roomOf(account, of).claimed);
  }

  /** False: nothing limits its run. */
  limits({ run }: Spender): boolean {
    return this.#ledger.has(run);
  }

  limitsMoney({ run }: Spender): boolean {
    return this.#ledger.limitsMoney(run);
  }

  /** Waits until the budgets allow it. */
  enter(wish: Wish): void {
    const { task } = wish;
    // `finally` cleans up, even when nothing is left.
    if (isInFinally(task.instance.scope)) {
      if (wish.cost === undefined) this.#ledger.begun(task);
      return wish.end({ kind: "go", micro: wish.cost?.atMost ?? 0 });
    }
    this.#wishes.set(wish, undefined);
    this.#setWaits(task, true);
    const stopped = () => this.#end(wish, { kind: "stopped" });
    task.controller.signal.addEventListener("abort", stopped, { once: true });
    this.look();
  }

  /** A call in flight may cost so much less, or nothing any more. */
  giveBack(task: Spender, micro: number): void {
    const funds = this.#funds.get(task);
    if (funds === undefined || micro <= 0) return;
    funds.heldMicro -= micro;
    if (this.#wishes.size > 0) this.look();
  }

  ended(task: Spender): void {
    for (const wish of this.#wishes.keys()) if (wish.task === task) this.#wishes.delete(wish);
    const asked = this.#askers.get(task.run) === task && this.#askers.delete(task.run);
    if ((this.#funds.delete(task) || asked) && this.#wishes.size > 0) this.look();
  }

  /** Called when something may have become free. */
  look(): void {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    const refreshed = this.#ledger.refresh();
    if (refreshed === undefined) this.#lookAll();
    else void refreshed.catch(() => undefined).then(() => this.#lookAll());
  }

  #lookAll(): void {
    try {
      while (this.#mustLookAgain) {
        this.#mustLookAgain = false;
        this.#lookOnce();
      }
    } finally {
      this.#isLooking = false;
    }
    this.#notes.soon();
  }

  #lookOnce(): void {
    // A wait for money holds no attempt back that only wants to begin.
    const held = { call: new Set<BudgetAccount>(), begin: new Set<BudgetAccount>() };
    for (const wish of this.#inOrder()) {
      const { task } = wish;
      if (!this.#wishes.has(wish)) continue;
      if (task.hasEnded || task.isAbandoned) this.#end(wish, { kind: "stopped" });
      else if (task.instance.scope.phase !== "open" || isBudgetAsked(task.run.state)) this.#end(wish, { kind: "hold" });
      else this.#decide(wish, wish.cost === undefined ? held.begin : held.call);
    }
  }

  /** What has begun is to end. */
  #inOrder(): readonly Wish[] {
    const hasBegun = ({ task }: Wish) =>
      Number(this.#funds.get(task)?.claims.cost !== undefined || task.instance.costMicro > 0);
    return [...this.#wishes.keys()].sort((a, b) => hasBegun(b) - hasBegun(a));
  }

  #decide(wish: Wish, held: Set<BudgetAccount>): void {
    const accounts = this.#ledger.accountsOf(wish.task.run);
    let micro = wish.cost?.atMost ?? 0;
    let lowered: Short | undefined;
    let waitsFor = accounts?.find((account) => held.has(account));
    const asker = this.#askers.get(wish.task.run) ?? wish.task;
    const mustWait = accounts === undefined || waitsFor !== undefined || asker !== wish.task;
    for (const account of mustWait ? [] : accounts) {
      const found = this.#judge(account, wish);
      if (found.kind === "go") {
        if (found.micro < micro) lowered = { account, of: ["cost"], needsMicro: micro };
        micro = Math.min(micro, found.micro);
      } else if (found.kind === "wait" || (account instanceof SharedAccount && this.#ledger.getsMore(account)))
        waitsFor ??= account;
      else {
        const short = { account, ...found };
        if (mayAsk(short)) this.#askers.set(wish.task.run, wish.task);
        return this.#end(wish, { kind: "short", short });
      }
    }
    if (!mustWait && waitsFor === undefined) return this.#go(wish, micro, lowered);
    this.#wishes.set(wish, waitsFor);
    for (const account of accounts ?? []) held.add(account);
  }

  #judge(
    account: BudgetAccount,
    { task, cost }: Wish,
  ):
    | { readonly kind: "go"; readonly micro: number }
    | { readonly kind: "wait" }
    | ({ readonly kind: "short" } & Omit<Short, "account">) {
    const usual = this.#ledger.usualOf(task);
    const { limits } = account;
    if (cost !== undefined) {
      if (limits.cost === undefined) return { kind: "go", micro: cost.atMost };
      const money = { ...this.#roomOf(account, "cost", task), limit: limits.cost };
      const begins = this.#funds.get(task)?.claims.cost === undefined;
      const found = decideMoney(money, cost, { begins, usual: usual?.cost });
      if (found.kind !== "short") return found;
      const doubtMicro = this.#ledger.doubtIn(account);
      const isDoubt = money.limit - money.taken + doubtMicro >= found.needs;
      return { kind: "short", of: ["cost"], needsMicro: found.needs, ...(isDoubt ? { doubtMicro } : {}) };
    }
    let mustWait = false;
    const short: (keyof Amounts)[] = [];
    for (const of of AMOUNTS) {
      const limit = limits[of];
      if (of === "cost" || limit === undefined) continue;
      // The time of one run passes for all its attempts at once.
      const isOwnTime = of === "duration" && account.id === "run";
      const expected = isOwnTime ? 0 : of === "tries" ? 1 : (usual?.[of] ?? 0);
      const found = decideUse({ ...this.#roomOf(account, of, task), limit, usual: expected });
      if (found === "short") short.push(of);
      mustWait ||= found === "wait" && of !== "tries" && !isOwnTime;
    }
    // One question is enough.
    if (short.length > 0 && (account.taken.cost ?? 0) >= (limits.cost ?? Number.POSITIVE_INFINITY))
      short.unshift("cost");
    if (short.length > 0) return { kind: "short", of: short };
    return mustWait ? { kind: "wait" } : { kind: "go", micro: 0 };
  }

  #roomOf(account: BudgetAccount, of: keyof Amounts, asking?: Spender) {
    let [inFlight, claimed, othersWork] = [0, 0, false];
    for (const [task, funds] of this.#funds.entries()) {
      const claim = funds.claims[of];
      if (!this.#ledger.pays(task.run, account)) continue;
      if (of === "cost") inFlight += funds.heldMicro;
      if (task === asking || claim === undefined) continue;
      claimed += of === "cost" ? claimOf(task, funds) : claim;
      othersWork ||= !funds.waits;
    }
    return { taken: account.taken[of] ?? 0, inFlight, claimed, othersWork };
  }

  #go(wish: Wish, micro: number, short?: Short): void {
    const { task, cost } = wish;
    const funds = this.#funds.get(task) ?? { claims: {}, heldMicro: 0, waits: false };
    const usual = this.#ledger.usualOf(task);
    if (cost === undefined) {
      const { tokens = 0, duration = 0 } = usual ?? {};
      funds.claims = { ...funds.claims, tokens, duration };
      this.#ledger.begun(task);
    } else {
      const likely = Math.max(micro, usual?.cost ?? cost.planned ?? 0);
      const left = (this.#ledger.accountsOf(task.run) ?? []).map(
        ({ limits, taken }) => (limits.cost ?? Number.POSITIVE_INFINITY) - (taken.cost ?? 0),
      );
      funds.claims = { cost: Math.min(likely, ...left), ...funds.claims };
      funds.heldMicro += micro;
    }
    this.#funds.set(task, funds);
    this.#end(wish, { kind: "go", micro, short });
  }

  #end(wish: Wish, answer: Answer): void {
    if (!this.#wishes.delete(wish) && answer.kind !== "go") return;
    this.#setWaits(wish.task, false);
    wish.end(answer);
  }

  #setWaits(task: Spender, waits: boolean): void {
    const funds = this.#funds.get(task);
    if (funds !== undefined) funds.waits = waits;
  }

  /** The question whether a limit is to be raised. Undefined: its run ends. */
  questionOf(task: Spender, short: Short): Asks | undefined {
    if (!mayAsk(short)) return undefined;
    const { account, of } = short;
    const raise = usualRaise(short);
    this.#askers.set(task.run, task);
    return {
      status: "asks",
      key: budgetKeyOf(account.id, `${task.attempt} ${writeRaise(account, of, raise)} ${account.day}`.trim()),
      message: askToRaise(short, raise),
      show: showAccount(account, raise),
      allowEdit: true,
      costMicro: 0,
    };
  }

  /** What attempts under way hold, and what the first in line of each of these runs waits for. */
  view(runs: ReadonlySet<string>): BudgetView {
    const [holds, waits] = [new Map<string | undefined, Holding>(), new Map<string, BudgetWait>()];
    const holdingOf = (budget?: string) => {
      const holding = holds.get(budget) ?? { budget, heldMicro: 0, runs: new Set(), waiting: new Set() };
      holds.set(budget, holding);
      return holding;
    };
    const sharedOf = (run: LiveRun) =>
      (this.#ledger.accountsOf(run) ?? []).flatMap((account) => (account instanceof SharedAccount ? [account.id] : []));
    for (const [task, funds] of this.#funds.entries()) {
      if (funds.claims.cost === undefined) continue;
      for (const budget of [undefined, ...sharedOf(task.run)]) {
        const holding = holdingOf(budget);
        holding.heldMicro += claimOf(task, funds);
        holding.runs.add(task.runId);
      }
    }
    for (const [wish, account] of this.#wishes) {
      const { runId: run } = wish.task;
      if (account === undefined) continue;
      for (const budget of [undefined, ...sharedOf(wish.task.run)]) holdingOf(budget).waiting.add(run);
      if (!runs.has(run) || waits.has(run)) continue;
      const held = [...this.#funds.entries()].filter(([task]) => this.#ledger.pays(task.run, account));
      const holders = new Set(held.flatMap(([task, { claims }]) => (claims.cost === undefined ? [] : [task.runId])));
      waits.set(run, {
        run,
        budget: account.name,
        ...(wish.cost === undefined ? {} : { needsMicro: wish.cost.atMost }),
        heldMicro: held.reduce((sum, [task, funds]) => sum + claimOf(task, funds), 0),
        runs: holders.size,
        holders: [...holders].slice(0, MOST_HOLDERS),
      });
    }
    const shown = [...holds.values()].map((holding) => ({
      ...holding,
      runs: holding.runs.size,
      waiting: holding.waiting.size,
    }));
    return { holds: shown, waits: [...waits.values()] };
  }
}

/** Of the runs that hold money, so many are named. */
const MOST_HOLDERS = 5;

/** Money in doubt is a person's matter, whatever the budget says. */
function mayAsk({ account, doubtMicro }: Short): boolean {
  return account.onExceeded === "ask" || doubtMicro !== undefined;
}

/** The money that an attempt will likely take from now on. */
function claimOf({ instance }: Spender, { claims, heldMicro }: Funds): number {
  return Math.max(heldMicro, (claims.cost ?? 0) - instance.attemptCostMicro);
}
