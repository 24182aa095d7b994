import { AMOUNTS, SHOWN_AMOUNTS, writeMicro } from "../../../core/amounts.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Amounts } from "../../../core/history/events.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { BudgetAccount } from "./budget-account.ts";

/** What an account has too little of for an attempt that wants to begin, or for its next call. */
export interface Short {
  readonly account: BudgetAccount;
  readonly of: readonly (keyof Amounts)[];
  /** What the call, or the attempt, needs. */
  readonly needsMicro?: number;
  /** It would be there if calls that were cut off had cost nothing: up to so much is in doubt. */
  readonly doubtMicro?: number;
}

/** Explains why nothing more begins. */
export function explainShort({ account, of, needsMicro, doubtMicro = 0 }: Short): string {
  const { name, limits, used } = account;
  const parts = of.map((each) => `${textOf(each, used[each])} of ${textOf(each, limits[each])}`).join(", ");
  if (of.every((each) => (used[each] ?? 0) >= (limits[each] ?? 0)) && doubtMicro === 0)
    return `${name} is used up: ${parts}.`;
  if (doubtMicro > 0) {
    const spent = writeMicro((used.cost ?? 0) - doubtMicro);
    return `${name}: ${spent} of ${writeMicro(limits.cost ?? 0)} is spent, and up to ${writeMicro(doubtMicro)} more is in doubt, on calls that were cut off.`;
  }
  const needs = needsMicro === undefined ? "" : `, and the next call may cost ${writeMicro(needsMicro)}`;
  return `${name} is too little for another try: ${parts}${needs}.`;
}

/** Shown to the person who is asked to raise the limit. */
export function showAccount(account: BudgetAccount, raise: Amounts): JsonObject {
  return {
    budget: account.id,
    limit: toShown(account.limits),
    used: toShown(
      Object.fromEntries(AMOUNTS.filter((of) => of in account.limits).map((of) => [of, account.used[of] ?? 0])),
    ),
    raise_by: toShown(raise),
  };
}

export function askToRaise(short: Short, raise: Amounts): string {
  if (short.doubtMicro !== undefined)
    return `${explainShort(short)} Go on? It may then cost ${writeMicro(raise.cost ?? 0)} more than its limit.`;
  const by = short.of.map((each) => textOf(each, raise[each])).join(", ");
  return `${explainShort(short)} Raise it by ${by} and go on?`;
}

/** The default raise: what is in doubt, else as much again as was set, and enough for the call. */
export function usualRaise({ account, of, needsMicro = 0, doubtMicro }: Short): Amounts {
  const { set, limits, taken } = account;
  if (doubtMicro !== undefined) return { cost: doubtMicro };
  const missingMicro = needsMicro - ((limits.cost ?? 0) - (taken.cost ?? 0));
  return Object.fromEntries(
    of.map((each) => [each, Math.max(1, set[each] ?? 0, each === "cost" ? Math.ceil(missingMicro) : 0)]),
  );
}

/** What is asked about, for the key of a question: `cost=190000+50000,tokens=5+5`, each limit as it is, and its raise. */
export function writeRaise({ limits }: BudgetAccount, of: readonly (keyof Amounts)[], raise: Amounts): string {
  return of.map((each) => `${each}=${limits[each] ?? 0}+${raise[each] ?? 0}`).join(",");
}

/** The raises of limits that were not raised since. Questions of before name no raise: as much again as was set. */
export function readUnraised({ limits, set }: BudgetAccount, written: string): Amounts {
  const asked = new Map(
    written
      .split(",")
      .map((each) => each.split(/[=+]/) as [string, string, string | undefined])
      .map(([of, ...rest]) => [of, rest]),
  );
  return Object.fromEntries(
    AMOUNTS.flatMap((of) => {
      const [then, by] = asked.get(of) ?? [];
      if (then === undefined || (limits[of] ?? 0) > Number(then)) return [];
      return [[of, by === undefined ? Math.max(1, set[of] ?? 0) : Number(by)]];
    }),
  );
}

/** Reads the raise that a person has written: `{"cost_usd": 5}`. Throws `APPROVAL_EDIT_REFUSED`. */
export function readRaise(edited: Json): Amounts {
  const given = isJsonObject(edited) && isJsonObject(edited["raise_by"]) ? edited["raise_by"] : edited;
  if (!isJsonObject(given) || Object.keys(given).length === 0) throw notARaise();
  const amounts: [string, number][] = [];
  for (const [name, value] of Object.entries(given)) {
    const of = AMOUNTS.find((each) => SHOWN_AMOUNTS[each].of === name);
    if (of === undefined || typeof value !== "number" || !(value > 0) || value > 1e12) throw notARaise();
    amounts.push([of, Math.max(1, Math.round(value * SHOWN_AMOUNTS[of].unit))]);
  }
  return Object.fromEntries(amounts);
}

function notARaise(): PawlError {
  return new PawlError("APPROVAL_EDIT_REFUSED", {
    message: "The edited data must say by how much: an object with some of cost_usd, tokens, steps and seconds.",
    remedy: 'Send for example {"cost_usd": 5}, or nothing for as much again.',
  });
}

function toShown(amounts: Amounts): JsonObject {
  return Object.fromEntries(
    AMOUNTS.flatMap((of) => {
      const amount = amounts[of];
      return amount === undefined ? [] : [[SHOWN_AMOUNTS[of].of, amount / SHOWN_AMOUNTS[of].unit]];
    }),
  );
}

function textOf(of: keyof Amounts, amount = 0): string {
  if (of === "cost") return writeMicro(amount);
  return of === "duration" ? `${amount / 1_000} s` : `${amount} ${SHOWN_AMOUNTS[of].of}`;
}
