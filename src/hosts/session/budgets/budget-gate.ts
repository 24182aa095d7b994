import { ChurnSet } from "../../../core/churn-map.ts";
import { isInFinally } from "../../../core/interpreter/attempt/admission.ts";
import { budgetKeyOf } from "../../../core/interpreter/budget/budget-question.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Asks } from "../../../ports/executor.ts";
import type { RunningTask } from "../tasks/running-task.ts";
import { type BudgetAccount, writeLimits } from "./budget-account.ts";
import type { Admission, BudgetLedger } from "./budget-ledger.ts";
import { BudgetNotes } from "./budget-notes.ts";
import { askToRaise, explainExceeded, showAccount, usualRaise } from "./explain-account.ts";

/** The actions on an attempt at the gate. */
export interface GateActions {
  go(task: RunningTask): void;
  /** A person is asked to raise the limit. */
  ask(task: RunningTask, question: Asks): void;
  /** It goes back to wait for the answer about the budget. */
  hold(task: RunningTask): void;
  /** Nothing is left. */
  stop(task: RunningTask, message: string): void;
  /** The attempt was told to stop while it waited. */
  stopped(task: RunningTask): void;
}

/** Lets attempts begin as far as the budgets of their runs allow: first come, first served among those that share a budget. */
export class BudgetGate {
  readonly #ledger: BudgetLedger;
  readonly #actions: GateActions;
  readonly #waiting = new ChurnSet<RunningTask>();
  /** Attempts with a reservation. */
  readonly #admitted = new ChurnSet<RunningTask>();
  readonly #notes: BudgetNotes;
  #isLooking = false;
  #mustLookAgain = false;

  constructor(ledger: BudgetLedger, clock: Clock, actions: GateActions) {
    this.#ledger = ledger;
    this.#actions = actions;
    this.#notes = new BudgetNotes(clock, this.#waiting);
    ledger.hasRoom = () => this.look();
  }

  /** False: nothing limits its run, and the gate has nothing to do with it. */
  takes(task: RunningTask): boolean {
    if (!this.#ledger.has(task.run)) return false;
    // `finally` cleans up, even when the money is gone.
    if (isInFinally(task.instance.scope)) {
      this.#ledger.begun(task);
      return false;
    }
    this.#waiting.add(task);
    task.controller.signal.addEventListener("abort", () => this.#stopped(task), { once: true });
    this.look();
    return true;
  }

  #stopped(task: RunningTask): void {
    if (this.#waiting.delete(task)) this.#actions.stopped(task);
  }

  ended(task: RunningTask): void {
    const isKnown = this.#admitted.delete(task) || this.#waiting.delete(task);
    if (!isKnown) return;
    this.#ledger.release(task);
    if (this.#waiting.size > 0) this.look();
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
    const held = new Set<BudgetAccount>();
    for (const task of this.#inOrder()) {
      if (!this.#waiting.has(task)) continue;
      if (task.hasEnded || task.isAbandoned) this.#waiting.delete(task);
      else if (task.instance.scope.phase !== "open" || this.#ledger.isAsked(task.run)) this.#holdBack(task);
      else this.#decide(task, held);
    }
  }

  /** What has begun is to end: money for its rest goes before money for other beginnings. */
  #inOrder(): readonly RunningTask[] {
    const hasBegun = ({ instance }: RunningTask) => Number(instance.costMicro > 0);
    return [...this.#waiting].sort((a, b) => hasBegun(b) - hasBegun(a));
  }

  #decide(task: RunningTask, held: Set<BudgetAccount>): void {
    const admission = this.#ledger.admit(task, held);
    if (admission.kind === "hold") {
      for (const account of admission.accounts) held.add(account);
      return;
    }
    this.#waiting.delete(task);
    if (admission.kind === "exceeded") return this.#refuse(task, admission);
    this.#admitted.add(task);
    task.limitCost(admission.maxCostMicro);
    this.#actions.go(task);
  }

  #refuse(task: RunningTask, { account, of }: Extract<Admission, { readonly kind: "exceeded" }>): void {
    if (account.onExceeded === "stop") return this.#actions.stop(task, explainExceeded(account, of));
    const raise = usualRaise(account, of);
    this.#actions.ask(task, {
      status: "asks",
      key: budgetKeyOf(account.id, `${task.attempt} ${writeLimits(account.limits, of)} ${account.day}`.trim()),
      message: askToRaise(account, of, raise),
      show: showAccount(account, raise),
      allowEdit: true,
      costMicro: 0,
    });
    // One question is enough.
    for (const other of [...this.#waiting]) if (other.run === task.run) this.#holdBack(other);
  }

  #holdBack(task: RunningTask): void {
    if (this.#waiting.delete(task)) this.#actions.hold(task);
  }
}
