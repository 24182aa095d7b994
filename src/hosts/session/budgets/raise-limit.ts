import type { Instance } from "../../../core/history/run-state.ts";
import { isBudgetKey } from "../../../core/interpreter/budget/budget-question.ts";
import type { Json } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";
import { SharedAccount } from "./budget-account.ts";
import type { BudgetLedger } from "./budget-ledger.ts";
import { readRaise, readUnraised } from "./explain-account.ts";

interface Raise {
  readonly instance: Instance;
  readonly key: string;
  readonly at: number;
  /** The amounts that a person has written. Absent: those of the question. */
  readonly edited: Json | undefined;
}

/**
 * Raises the limit that a person has allowed to be raised, before the answer is recorded. The raise has an id made of its
 * question, so that an answer raises once, however often it is given. Throws `APPROVAL_EDIT_REFUSED`.
 */
export function raiseLimit(run: LiveRun, ledger: BudgetLedger, { instance, key, at, edited }: Raise): void {
  if (!isBudgetKey(key)) return;
  const [, budget = "", , asked = "", day = ""] = key.split(" ");
  const account = ledger.accountFor(run, budget);
  const wanted = edited === undefined ? undefined : readRaise(edited);
  if (account === undefined) return;
  // A question about an earlier day raises nothing: the new day has its own limits.
  const by = () => wanted ?? (account.day === day ? readUnraised(account, asked) : {});
  const id = `${run.runId} ${instance.path} ${instance.askedSeq}`;
  if (budget === "run") run.apply({ type: "limitRaised", at, id, by: by() });
  else if (account instanceof SharedAccount) ledger.raise(id, { account, by });
}
