import { isInFinally } from "../../../core/interpreter/admission.ts";
import { budgetKeyOf } from "../../../core/interpreter/budget-question.ts";
import type { Asks } from "../../../ports/executor.ts";
import type { Flight } from "../flight.ts";
import type { Admission, BudgetLedger } from "./budget-ledger.ts";
import { askToRaise, explainExceeded, showPurse, usualRaise } from "./explain-purse.ts";
import { type Purse, writeLimits } from "./purse.ts";

/** What may become of an attempt that has not begun. */
export interface GateActions {
  go(flight: Flight): void;
  /** A person is asked to raise the limit. */
  ask(flight: Flight, question: Asks): void;
  /** Back to where it waits for the answer. */
  hold(flight: Flight): void;
  /** Nothing is left. */
  stop(flight: Flight, message: string): void;
  /** It was told to stop while it waited. */
  stopped(flight: Flight): void;
}

/** Lets attempts begin as far as the budgets of their runs allow. Who comes first goes first, among those who share one. */
export class FlightGate {
  readonly #ledger: BudgetLedger;
  readonly #actions: GateActions;
  readonly #waiting = new Set<Flight>();
  /** They have something promised. */
  readonly #flying = new Set<Flight>();
  #isLooking = false;
  #mustLookAgain = false;

  constructor(ledger: BudgetLedger, actions: GateActions) {
    this.#ledger = ledger;
    this.#actions = actions;
  }

  /** False: nothing limits its run, and the gate has nothing to do with it. */
  takes(flight: Flight): boolean {
    if (!this.#ledger.has(flight.driver)) return false;
    // It cleans up, even when the money is gone.
    if (isInFinally(flight.instance.scope)) {
      this.#ledger.begun(flight);
      return false;
    }
    this.#waiting.add(flight);
    flight.controller.signal.addEventListener("abort", () => this.#stopped(flight), { once: true });
    this.look();
    return true;
  }

  #stopped(flight: Flight): void {
    if (this.#waiting.delete(flight)) this.#actions.stopped(flight);
  }

  landed(flight: Flight): void {
    const isKnown = this.#flying.delete(flight) || this.#waiting.delete(flight);
    if (!isKnown) return;
    this.#ledger.release(flight);
    if (this.#waiting.size > 0) this.look();
  }

  /** Something may have become free. */
  look(): void {
    this.#mustLookAgain = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#mustLookAgain) {
        this.#mustLookAgain = false;
        this.#lookOnce();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #lookOnce(): void {
    const held = new Set<Purse>();
    for (const flight of [...this.#waiting]) {
      if (!this.#waiting.has(flight)) continue;
      if (flight.hasLanded || flight.isAbandoned) this.#waiting.delete(flight);
      else if (flight.instance.scope.phase !== "open" || this.#ledger.isAsked(flight.driver)) this.#holdBack(flight);
      else this.#decide(flight, held);
    }
  }

  #decide(flight: Flight, held: Set<Purse>): void {
    const admission = this.#ledger.admit(flight, held);
    if (admission.kind === "hold") {
      for (const purse of admission.purses) held.add(purse);
      return;
    }
    this.#waiting.delete(flight);
    if (admission.kind === "exceeded") return this.#refuse(flight, admission);
    this.#flying.add(flight);
    flight.limitCost(admission.maxCostMicro);
    this.#actions.go(flight);
  }

  #refuse(flight: Flight, { purse, of }: Extract<Admission, { readonly kind: "exceeded" }>): void {
    if (purse.onExceeded === "stop") return this.#actions.stop(flight, explainExceeded(purse, of));
    const raise = usualRaise(purse, of);
    this.#actions.ask(flight, {
      status: "asks",
      key: budgetKeyOf(purse.id, `${flight.attempt} ${writeLimits(purse.limits, of)} ${purse.day}`.trim()),
      message: askToRaise(purse, of, raise),
      show: showPurse(purse, raise),
      allowEdit: true,
      costMicro: 0,
    });
    // One question is enough.
    for (const other of [...this.#waiting]) if (other.driver === flight.driver) this.#holdBack(other);
  }

  #holdBack(flight: Flight): void {
    if (this.#waiting.delete(flight)) this.#actions.hold(flight);
  }
}
