import { AMOUNTS } from "../../../core/amounts.ts";
import type { Amounts, CostReserved, Event } from "../../../core/history/events.ts";
import { type Amount, decideReservation } from "../../../core/interpreter/budget/decide-reservation.ts";
import { countTokens } from "../../../core/interpreter/budget/use-limits.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { type BudgetAccount, sumReserved } from "./budget-account.ts";

/** An attempt that is to begin. */
interface Wish {
  /** The most that attempts of its step have used. */
  readonly seen: Amounts | undefined;
  /** The likely cost of an attempt of its step, before one has ended. */
  readonly expectedMicro: number | undefined;
  /** An attempt in flight is to show what one of its step costs. */
  readonly isProbed: boolean;
  /** Its cost is not known, and all in flight are of its step: they wait for its end, whatever it gets. */
  readonly isSoleKind: boolean;
  /** The reservation that was too little for the attempt before. */
  readonly tooLittleMicro: number | undefined;
  /** The least that its next call needs. */
  readonly needsMicro: number | undefined;
}

interface Reservations {
  readonly exceeded: readonly (keyof Amounts)[];
  /** Running attempts may leave something. */
  readonly mustWait: boolean;
  readonly share: Amounts;
}

/**
 * Decides what an attempt may use of each amount that an account limits. `tasks`: the tasks of all runs that pay from it, this
 * one included. A task that is alone may use all that is left.
 */
export function decideReservations(account: BudgetAccount, wish: Wish, tasks: number): Reservations {
  const exceeded: (keyof Amounts)[] = [];
  const share: [string, number][] = [];
  let mustWait = false;
  // Only a run's own tasks use its own limits. A shared budget must leave room for tasks that come later.
  const window = account.id === "run" || tasks === 1 ? Math.max(1, tasks) : Number.POSITIVE_INFINITY;
  for (const of of AMOUNTS) {
    const limit = account.limits[of];
    if (limit === undefined) continue;
    const used = account.taken[of] ?? 0;
    // Tries are whole, and the time of one run passes for all its attempts at once.
    if (of === "tries" || (of === "duration" && account.id === "run")) {
      if (used >= limit) exceeded.push(of);
      continue;
    }
    const reserved = sumReserved(account, of);
    const amount = { limit, used, reserved, window, seen: wish.seen?.[of] };
    // Attempts can keep to a limit of money only, so an attempt with too little of it would be paid for nothing.
    const ofMoney = of === "cost" ? ofCost(account, wish) : {};
    const found = decideReservation({ ...amount, ...ofMoney });
    if (found.kind === "exceeded") exceeded.push(of);
    else if (found.kind === "hold") mustWait = true;
    else share.push([of, found.amount]);
  }
  return { exceeded, mustWait, share: Object.fromEntries(share) };
}

function ofCost(account: BudgetAccount, wish: Wish): Partial<Amount> {
  const { expectedMicro: expected, isProbed, tooLittleMicro: tooLittle, needsMicro: needs } = wish;
  const mayTakeAll = wish.isSoleKind && sumReserved(account, "cost") === 0;
  return { asks: account.onExceeded === "ask", expected, isProbed, tooLittle, needs, ...(mayTakeAll && { window: 1 }) };
}

export type OfAttempt = Extract<Event, { readonly attempt: number }>;

interface Told {
  readonly costMicro?: number;
  readonly usage?: JsonObject | undefined;
  readonly startedAt?: number;
}

/**
 * The most that an attempt of a step has used, as far as this process has seen. After a restart a few reservations are larger or
 * smaller than they need be. None exceeds what is left.
 */
export class PeakUse {
  readonly #byStep = new Map<string, Amounts>();
  readonly #expected = new Map<string, number>();

  note(run: LiveRun, event: OfAttempt): void {
    if (!("costMicro" in event) && !("startedAt" in event)) return;
    const { costMicro = 0, usage, startedAt = event.at }: Told = event;
    const step = stepOf(run, event.path);
    const before = this.#byStep.get(step) ?? {};
    this.#byStep.set(step, {
      cost: Math.max(before.cost ?? 0, costMicro),
      tokens: Math.max(before.tokens ?? 0, countTokens(usage)),
      duration: Math.max(before.duration ?? 0, event.at - startedAt),
    });
  }

  expect(run: LiveRun, { path, expectedMicro }: CostReserved): void {
    if (expectedMicro === undefined) return;
    const step = stepOf(run, path);
    this.#expected.set(step, Math.max(expectedMicro, this.#expected.get(step) ?? 0));
  }

  expectedOf(run: LiveRun, path: string): number | undefined {
    return this.#expected.get(stepOf(run, path));
  }

  /** The highest cost is also known to the run itself. */
  of(run: LiveRun, path: string): Amounts | undefined {
    const seen = this.#byStep.get(stepOf(run, path));
    const { active, budget } = run.state;
    const inRun = budget.maxSeenMicro.get(active.get(path)?.step.key ?? "");
    return inRun === undefined ? seen : { ...seen, cost: Math.max(seen?.cost ?? 0, inRun) };
  }
}

/** The same for all items and visits of a step. */
export function stepOf({ state }: LiveRun, path: string): string {
  return `${state.workflow} ${path.replaceAll(/\[\d+\]|#\d+|~retry\d+/g, "")}`;
}
