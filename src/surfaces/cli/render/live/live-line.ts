import type { IndexedFlow, IndexedStep } from "../../../../core/graph/indexed-graph.ts";
import type { Scope } from "../../../../core/history/run-state.ts";
import { sizeOf } from "../../../../core/interpreter/flow/settle.ts";
import { type StepHistory, triesOf } from "../../../../operations/runs/describe/describe-run-history.ts";
import { statusOfEnd, statusOfPhase } from "../../../../operations/runs/describe/describe-run-steps.ts";
import type { StepStatus } from "../../../../operations/runs/run-schemas.ts";

/** A step of the graph with all its instances: what one line of the live view tells. */
export class LiveLine {
  readonly id: string;
  readonly depth: number;
  /** Lines of the step's nested flow, of a called workflow, of its `catch` and `finally`, once there are some. */
  readonly inner = new Map<IndexedFlow, readonly LiveLine[]>();
  readonly live = new Set<StepHistory>();
  /** Passes in which the step stands. */
  readonly scopes = new Set<Scope>();
  readonly #step: IndexedStep;
  /** The step in whose nested flow this one stands: each of its instances will have one of this. */
  readonly #around: LiveLine | undefined;
  readonly #ended = new Map<StepStatus, number>();
  #endedCostMicro = 0;
  #endedUnpriced = false;
  visits = 0;
  startedAt: number | undefined;
  endedAt: number | undefined;
  /** Of the instance that ended last. */
  lastTries = 0;
  lastFailure: { readonly code: string; readonly message: string } | undefined;

  constructor(step: IndexedStep, depth: number, around?: LiveLine) {
    this.#step = step;
    this.#around = around;
    this.id = step.step.id;
    this.depth = depth;
  }

  begin(history: StepHistory): void {
    this.live.add(history);
    this.startedAt ??= history.beganAt;
    if (history.life.is === "live") this.visits = Math.max(this.visits, history.life.instance.visit);
  }

  end(history: StepHistory): void {
    if (history.life.is !== "ended" || !this.live.delete(history)) return;
    const status = statusOfEnd(history.life.status);
    this.#ended.set(status, this.ended(status) + 1);
    this.#endedCostMicro += history.costMicro;
    this.#endedUnpriced ||= history.unpriced;
    this.endedAt = history.life.at;
    this.lastTries = triesOf(history);
  }

  ended(status: StepStatus): number {
    return this.#ended.get(status) ?? 0;
  }

  get costMicro(): number {
    let sum = this.#endedCostMicro;
    for (const { costMicro } of this.live) sum += costMicro;
    return sum;
  }

  get isUnpriced(): boolean {
    return this.#endedUnpriced || [...this.live].some(({ unpriced }) => unpriced);
  }

  /** Instances as far as they are known: of a fan-out, also those that have not begun. */
  get count(): { readonly total: number; readonly settled: number; readonly isFanOut: boolean } {
    let total = 0;
    let settled = 0;
    let isFanOut = this.scopes.size > 1;
    for (const scope of this.scopes) {
      const state = scope.steps[this.#step.index];
      if (state === undefined) continue;
      total += Math.max(0, sizeOf(state));
      settled += state.settled;
      if (state.items >= 0) isFanOut = true;
    }
    const around = this.#around?.count;
    const toCome = around === undefined ? 0 : around.total - around.settled - (this.#around?.live.size ?? 0);
    return { total: total + Math.max(0, toCome), settled, isFanOut: isFanOut || around?.isFanOut === true };
  }

  liveCount(status: StepStatus): number {
    let count = 0;
    for (const { life } of this.live)
      if (life.is === "live" && statusOfPhase(life.instance.phase) === status) count += 1;
    return count;
  }

  /** `isOver`: nothing more will begin. */
  status(isOver: boolean): StepStatus {
    for (const status of LIVELIEST_FIRST) if (this.liveCount(status) > 0) return status;
    const { total, settled } = this.count;
    if (total > 0 && settled >= total) return this.#statusOfAll();
    if (settled > 0 && !isOver) return "running";
    if (this.lastFailure !== undefined && this.live.size === 0) return "failed";
    if (this.endedAt !== undefined) return this.#statusOfAll();
    return isOver ? "skipped" : "pending";
  }

  #statusOfAll(): StepStatus {
    for (const status of ["failed", "cancelled", "completed"] as const) if (this.ended(status) > 0) return status;
    return "skipped";
  }
}

const LIVELIEST_FIRST: readonly StepStatus[] = [
  "running",
  "retrying",
  "awaiting_approval",
  "held",
  "waiting",
  "pending",
];
