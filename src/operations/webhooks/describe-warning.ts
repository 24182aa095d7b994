import { toIsoTime } from "../../core/iso-time.ts";
import type { ToldWarning } from "../../hosts/session/budgets/limit-warnings.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { type LimitDescription, showLimit } from "../costs/use-limits.ts";

/** What a webhook tells of a limit of which 80 % are used. */
export interface BudgetWarning {
  readonly event: "budget.warning";
  /** Whose step has used it. */
  readonly run_id: string;
  readonly workflow: string;
  /** `run`: its own limits; else the id of a budget that runs share. */
  readonly budget: string;
  readonly name: string;
  readonly limit: LimitDescription;
  readonly timestamp: string;
}

/** The same text whenever it is asked for. */
export function describeWarning({ id, workflow }: RunRecord, told: ToldWarning): BudgetWarning {
  const { budget, name, of, limit, used, at } = told;
  return {
    event: "budget.warning",
    run_id: id,
    workflow,
    budget,
    name,
    limit: showLimit({ of, limit, used }),
    timestamp: toIsoTime(at),
  };
}
