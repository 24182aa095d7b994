import { AMOUNTS } from "../../../core/amounts.ts";
import type { Amounts } from "../../../core/history/events.ts";
import { decideReservation } from "../../../core/interpreter/budget/decide-reservation.ts";
import { type BudgetAccount, sumReserved } from "./budget-account.ts";

/** An attempt that is to begin. */
interface Wish {
  /** The most that attempts of its step have used. */
  readonly seen: Amounts | undefined;
  /** The reservation that was too little for the attempt before. */
  readonly tooLittleMicro: number | undefined;
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
    const used = account.used[of] ?? 0;
    // Tries are whole, and the time of one run passes for all its attempts at once.
    if (of === "tries" || (of === "duration" && account.id === "run")) {
      if (used >= limit) exceeded.push(of);
      continue;
    }
    const amount = { limit, used, reserved: sumReserved(account, of), window, seen: wish.seen?.[of] };
    // Attempts can keep to a limit of money only, so an attempt with too little of it would be paid for nothing.
    const ofMoney = of === "cost" ? { asks: account.onExceeded === "ask", tooLittle: wish.tooLittleMicro } : {};
    const found = decideReservation({ ...amount, ...ofMoney });
    if (found.kind === "exceeded") exceeded.push(of);
    else if (found.kind === "hold") mustWait = true;
    else share.push([of, found.amount]);
  }
  return { exceeded, mustWait, share: Object.fromEntries(share) };
}
