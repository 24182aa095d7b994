import { isNear } from "../../../core/amounts.ts";
import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Amounts } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import { limitUses } from "../../../core/interpreter/budget/use-limits.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { LiveRun } from "../live-run.ts";
import type { BudgetNear } from "./budget-ledger.ts";

/** What an entry of the outbox keeps of a warning. Money in micro-dollars, time in milliseconds. */
export interface ToldWarning {
  readonly event: "budget.warning";
  readonly url: string;
  readonly at: number;
  /** `run`, or the id of a budget that runs share. */
  readonly budget: string;
  readonly name: string;
  readonly of: keyof Amounts;
  readonly limit: number;
  readonly used: number;
}

/** Has those told who want to know that 80 % of a limit are used, once for each, in the commit of what has used it. */
export class LimitWarnings {
  readonly #clock: Clock;
  readonly #env: (name: string) => string | undefined;
  readonly #told = new WeakMap<LiveRun, Set<string>>();

  constructor(clock: Clock, env: (name: string) => string | undefined) {
    this.#clock = clock;
    this.#env = env;
  }

  /** A run that is taken up: what was near before was told before. */
  enroll(run: LiveRun): void {
    if (hasLimits(run.state)) this.#told.set(run, new Set(nearOf(run.state).map(({ of }) => of)));
  }

  applied(run: LiveRun): void {
    if (!hasLimits(run.state)) return;
    const told = this.#told.get(run) ?? new Set<string>();
    this.#told.set(run, told);
    for (const { of, limit, used } of nearOf(run.state)) {
      if (told.has(of)) continue;
      told.add(of);
      const callback = run.options["callback_url"];
      if (typeof callback !== "string" || resolveEnv(callback, this.#env).trim() === "") continue;
      this.#tell(run, { url: callback, budget: "run", name: "What the run may use", of, limit, used });
    }
  }

  tellShared(run: LiveRun, { account, of, limit, used }: BudgetNear): void {
    run.apply({ type: "limitNeared", at: this.#clock.now(), budget: account.id, of, limit, used });
    const { webhook } = account.budget;
    if (webhook !== undefined)
      this.#tell(run, { url: webhook, budget: account.id, name: account.name, of, limit, used });
  }

  #tell(run: LiveRun, warning: Omit<ToldWarning, "event" | "at">): void {
    const told: ToldWarning = { event: "budget.warning", at: this.#clock.now(), ...warning };
    run.addOutbox([{ kind: "webhook", body: JSON.stringify(told) }]);
  }
}

function hasLimits({ budget }: RunState): boolean {
  if (budget.limitMicro !== undefined || budget.asks !== undefined) return true;
  for (const _ in budget.uses) return true;
  return false;
}

function nearOf(state: RunState) {
  return limitUses(state).filter(({ limit, used }) => isNear(used, limit));
}
