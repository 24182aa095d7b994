import { AMOUNTS } from "../../../core/amounts.ts";
import type { Amounts } from "../../../core/history/events.ts";
import { decideReservation } from "../../../core/interpreter/budget/decide-reservation.ts";
import { type BudgetAccount, sumReserved } from "./budget-account.ts";

/** What is known of an attempt that wants to begin. */
interface Wish {
  /** The most that attempts of its step have used. */
  readonly seen: Amounts | undefined;
  /** Of money: what the attempt before was promised and found too little. */
  readonly tooLittleMicro: number | undefined;
}

interface Reservations {
  readonly exceeded: readonly (keyof Amounts)[];
  /** Those that fly may leave something. */
  readonly mustWait: boolean;
  readonly share: Amounts;
}

/**
 * What an attempt may use of each amount that a purse limits. `tasks`: of all runs that pay from it, those that have begun or
 * want to, itself among them. One alone is not cut off at a part of what is left.
 */
export function decideReservations(account: BudgetAccount, wish: Wish, tasks: number): Reservations {
  const exceeded: (keyof Amounts)[] = [];
  const share: [string, number][] = [];
  let mustWait = false;
  // Nobody but its own tasks comes to the limits of a run. To others more may come at any time, and find room.
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
    // Only money is a limit that attempts keep to, so that too little of it is spent for nothing.
    const ofMoney = of === "cost" ? { asks: account.onExceeded === "ask", tooLittle: wish.tooLittleMicro } : {};
    const found = decideReservation({ ...amount, ...ofMoney });
    if (found.kind === "exceeded") exceeded.push(of);
    else if (found.kind === "hold") mustWait = true;
    else share.push([of, found.amount]);
  }
  return { exceeded, mustWait, share: Object.fromEntries(share) };
}
