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

/**
 * The most that an attempt of a step has used, as far as this process has seen. After a restart a few reservations are larger or
 * smaller than they need be. None exceeds what is left.
 */
export class PeakUse {
  readonly #byStep = new Map<string, Amounts>();

  note(run: LiveRun, event: OfAttempt): void {
    if (!("costMicro" in event) && !("startedAt" in event)) return;
    const { costMicro = 0, usage, startedAt = event.at }: Told = event;
    const step = stepOf(run, event.path);
    const before = this.#byStep.get(step) ?? {};
    this.#byStep.set(step, {
      cost: Math.max(before.cost ?? 0, costMicro),
      tokens: Math.max(before.tokens ?? 0, countTokens(usage)),
      duration: Math.max(before.duration ?? 0, event.at - startedAt),
    });
  }

  /** The highest cost is also known to the run itself. */
  of(run: LiveRun, path: string): Amounts | undefined {
    const seen = this.#byStep.get(stepOf(run, path));
    const { active, budget } = run.state;
    const inRun = budget.maxSeenMicro.get(active.get(path)?.step.key ?? "");
    return inRun === undefined ? seen : { ...seen, cost: Math.max(seen?.cost ?? 0, inRun) };
  }
}

/** The same for all items and visits of a step. */
function stepOf({ state }: LiveRun, path: string): string {
  return `${state.workflow} ${path.replaceAll(/\[\d+\]|#\d+|~retry\d+/g, "")}`;
}
