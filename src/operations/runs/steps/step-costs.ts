import { boundedUsd, toUsd } from "../../limits/micro-dollars.ts";
import type { RunHistory, StepHistory } from "../describe/describe-run-history.ts";

interface Sum {
  costMicro: number;
  uncertainMicro: number;
  unbounded: number;
  unpriced: boolean;
}

/** What each instance and each fan-out has cost with all that is inside it, by path. */
export class StepCosts {
  readonly #sums = new Map<string, Sum>();

  constructor(history: RunHistory) {
    for (const step of history.steps.values()) {
      if (step.costMicro + step.uncertainMicro + step.unbounded > 0 || step.unpriced) this.#add(step);
    }
  }

  of(path: string): { readonly cost_usd: number | null; readonly cost_usd_at_most: number | null } {
    const sum = this.#sums.get(path);
    if (sum === undefined) return { cost_usd: 0, cost_usd_at_most: 0 };
    return { cost_usd: sum.unpriced ? null : toUsd(sum.costMicro), cost_usd_at_most: boundedUsd(sum) };
  }

  #add(step: StepHistory): void {
    let { path, item } = step;
    for (let around = step.scope.parent; ; around = around.scope.parent) {
      this.#addAt(path, step);
      if (item >= 0) this.#addAt(path.slice(0, path.lastIndexOf("[")), step);
      if (around === undefined) return;
      ({ path, item } = around);
    }
  }

  #addAt(path: string, { costMicro, uncertainMicro, unbounded, unpriced }: Sum): void {
    const sum = this.#sums.get(path) ?? { costMicro: 0, uncertainMicro: 0, unbounded: 0, unpriced: false };
    sum.costMicro += costMicro;
    sum.uncertainMicro += uncertainMicro;
    sum.unbounded += unbounded;
    sum.unpriced ||= unpriced;
    this.#sums.set(path, sum);
  }
}
