import { isNear } from "../../../core/amounts.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { resolveEnv } from "../../../core/expressions/resolve-env.ts";
import type { Amounts } from "../../../core/history/events.ts";
import type { RunState } from "../../../core/history/run-state.ts";
import { limitUses } from "../../../core/interpreter/budget/use-limits.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { LiveRun } from "../live-run.ts";
import type { BudgetNear } from "./budget-ledger.ts";

/** The body of a warning in the outbox. Money in micro-dollars, time in milliseconds. */
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

/** Queues a webhook when 80 % of a limit are used, once for each limit, in the commit of the event that used it. */
export class LimitWarnings {
  readonly #clock: Clock;
  readonly #env: (name: string) => string | undefined;
  readonly #warned = new WeakMap<LiveRun, Set<string>>();

  constructor(clock: Clock, env: (name: string) => string | undefined) {
    this.#clock = clock;
    this.#env = env;
  }

  /** A run is loaded: limits that are near already were warned about before. */
  enroll(run: LiveRun): void {
    if (hasLimits(run.state)) this.#warned.set(run, new Set(nearOf(run.state).map(({ of }) => of)));
  }

  applied(run: LiveRun): void {
    if (!hasLimits(run.state)) return;
    const warned = this.#warned.get(run) ?? new Set<string>();
    this.#warned.set(run, warned);
    for (const { of, limit, used } of nearOf(run.state)) {
      if (warned.has(of)) continue;
      warned.add(of);
      const callback = run.options["callback_url"];
      if (typeof callback !== "string" || resolveEnv(callback, this.#env).trim() === "") continue;
      this.#queue(run, { url: callback, budget: "run", name: "What the run may use", of, limit, used });
    }
  }

  warnShared(run: LiveRun, { account, of, limit, used }: BudgetNear): void {
    run.apply({ type: "limitNeared", at: this.#clock.now(), budget: account.id, of, limit, used });
    const { webhook } = account.budget;
    if (webhook !== undefined)
      this.#queue(run, { url: webhook, budget: account.id, name: account.name, of, limit, used });
  }

  #queue(run: LiveRun, warning: Omit<ToldWarning, "event" | "at">): void {
    const body: ToldWarning = { event: "budget.warning", at: this.#clock.now(), ...warning };
    run.addOutbox([{ kind: "webhook", body: writeExact(body) }]);
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
