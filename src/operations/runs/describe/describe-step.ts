import { toIsoTime } from "../../../core/iso-time.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { boundedUsd, toUsd } from "../../limits/micro-dollars.ts";
import type { ErrorDescription } from "../run-schemas.ts";
import { describeError } from "./describe-error.ts";
import type { StepEntry } from "./step-tree.ts";

/** What every reader tells of a step instance. Its cost is its own, without what is inside it. */
export function describeStep({ path, step, item, status, history }: StepEntry) {
  const endedAt = history?.life.is === "ended" ? history.life.at : undefined;
  return {
    path,
    step_id: step.step.id,
    parallel_index: item < 0 ? null : item,
    status,
    attempt: history?.tries ?? 0,
    ...describeCosts(history),
    usage: history?.usage ?? {},
    ...describeTimes(history?.startedAt, endedAt),
  };
}

/** Why it is held, why it failed for good, or why the attempt before failed. */
export function errorOf(
  { path, failure }: Pick<StepEntry, "path" | "failure">,
  run: RunRecord,
): ErrorDescription | null {
  return failure === undefined ? null : describeError(failure, { run, path });
}

export interface Costs {
  readonly costMicro: number;
  readonly uncertainMicro: number;
  readonly unbounded: number;
  readonly unpriced: boolean;
}

export function describeCosts(costs: Costs | undefined) {
  if (costs === undefined) return { cost_usd: 0, cost_usd_at_most: 0 };
  return { cost_usd: costs.unpriced ? null : toUsd(costs.costMicro), cost_usd_at_most: boundedUsd(costs) };
}

/** What has not started has not ended either. */
export function describeTimes(startedAt: number | undefined, endedAt: number | undefined) {
  const isOver = startedAt !== undefined && endedAt !== undefined;
  return {
    started_at: toTime(startedAt),
    completed_at: isOver ? toTime(endedAt) : null,
    duration_seconds: isOver ? (endedAt - startedAt) / 1000 : null,
  };
}

export function toTime(at: number | undefined): string | null {
  return at === undefined ? null : toIsoTime(at);
}
