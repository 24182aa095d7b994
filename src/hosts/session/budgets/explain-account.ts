import { AMOUNTS, SHOWN_AMOUNTS, writeMicro } from "../../../core/amounts.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Amounts } from "../../../core/history/events.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { BudgetAccount } from "./budget-account.ts";

/** Explains why nothing more begins. */
export function explainExceeded(account: BudgetAccount, of: readonly (keyof Amounts)[]): string {
  const parts = of.map((each) => `${textOf(each, account.used[each])} of ${textOf(each, account.limits[each])}`);
  const isUsedUp = of.every((each) => (account.used[each] ?? 0) >= (account.limits[each] ?? 0));
  return `${account.name} is ${isUsedUp ? "used up" : "too little for another try"}: ${parts.join(", ")}.`;
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

export function askToRaise(account: BudgetAccount, of: readonly (keyof Amounts)[], raise: Amounts): string {
  const by = of.map((each) => textOf(each, raise[each])).join(", ");
  return `${explainExceeded(account, of)} Raise it by ${by} and go on?`;
}

/** The default raise: as much again as was set. */
export function usualRaise(account: BudgetAccount, of: readonly (keyof Amounts)[]): Amounts {
  return Object.fromEntries(of.map((each) => [each, Math.max(1, account.set[each] ?? 0)]));
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
