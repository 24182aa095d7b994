import type { Instance } from "../../../core/history/run-state.ts";
import { isBudgetKey } from "../../../core/interpreter/budget/budget-question.ts";
import type { Json } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { findUnraised } from "./budget-account.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { readRaise, usualRaise } from "./explain-account.ts";

interface Raise {
  readonly instance: Instance;
  readonly key: string;
  readonly at: number;
  /** What a person has written; absent: as much again as was set. */
  readonly edited: Json | undefined;
}

/**
 * A person has answered yes to a question about a budget: before the answer is recorded the limit is higher. An answer raises
 * once, however often it is given, for its question gives it a name. Throws `APPROVAL_EDIT_REFUSED`.
 */
export function raiseLimit(run: LiveRun, ledger: BudgetLedger, { instance, key, at, edited }: Raise): void {
  if (!isBudgetKey(key)) return;
  const [, budget = "", , asked = "", day = ""] = key.split(" ");
  const account = ledger.accountFor(run, budget);
  const wanted = edited === undefined ? undefined : readRaise(edited);
  if (account === undefined) return;
  // What was asked about another day is over: the new one has its own.
  const unraised = account.day === day ? findUnraised(account.limits, asked) : [];
  const by = wanted ?? usualRaise(account, unraised);
  const id = `${run.runId} ${instance.path} ${instance.askedSeq}`;
  if (budget === "run") run.apply({ type: "limitRaised", at, id, by });
  else ledger.raise(id, { budget, by });
}
