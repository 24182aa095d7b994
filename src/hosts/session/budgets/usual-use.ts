import type { Amounts, Event } from "../../../core/history/events.ts";
import { countTokens } from "../../../core/interpreter/budget/use-limits.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { LiveRun } from "../live-run.ts";

export type OfAttempt = Extract<Event, { readonly attempt: number }>;

interface Told {
  readonly costMicro?: number;
  readonly usage?: JsonObject | undefined;
  readonly startedAt?: number;
}

interface Sum extends Required<Omit<Amounts, "tries">> {
  count: number;
}

/** What attempts of a step use on the average, of all runs that this process has seen. A run also knows its own from before. */
export class UsualUse {
  readonly #byKind = new Map<string, Sum>();

  /** Called with the end of an attempt. */
  note(run: LiveRun, event: OfAttempt): void {
    const { costMicro = 0, usage, startedAt = event.at } = event as Told;
    const kind = kindOf(run, event.path);
    const sum = this.#byKind.get(kind) ?? { count: 0, cost: 0, tokens: 0, duration: 0 };
    this.#byKind.set(kind, {
      count: sum.count + 1,
      cost: sum.cost + costMicro,
      tokens: sum.tokens + countTokens(usage),
      duration: sum.duration + Math.max(0, event.at - startedAt),
    });
  }

  /** Undefined: no attempt of the step has ended. */
  of(run: LiveRun, path: string): Amounts | undefined {
    const { active, budget } = run.state;
    const known = budget.costs.get(active.get(path)?.step.key ?? "");
    const sum = this.#byKind.get(kindOf(run, path));
    const own = known === undefined ? undefined : { cost: known.micro / known.count };
    if (sum === undefined) return own;
    const { count, cost, tokens, duration } = sum;
    return { cost: cost / count, tokens: tokens / count, duration: duration / count, ...own };
  }
}

/** The same for all items and visits of a step. */
function kindOf({ state }: LiveRun, path: string): string {
  return `${state.workflow} ${path.replaceAll(/\[\d+\]|#\d+|~retry\d+/g, "")}`;
}
