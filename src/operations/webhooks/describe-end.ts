import { toIsoTime } from "../../core/iso-time.ts";
import type { Json } from "../../core/json.ts";
import type { RunStatus } from "../../ports/journal.ts";
import { toUsd } from "../costs/micro-dollars.ts";
import { describeHead } from "../runs/describe/describe-run.ts";
import type { RunReading } from "../runs/describe/describe-run-reading.ts";
import type { ErrorDescription } from "../runs/run-schemas.ts";

/** The webhook about a run's end. */
export interface EndDescription {
  readonly event: string;
  readonly run_id: string;
  readonly workflow: string;
  readonly status: RunStatus;
  /** Null where they are larger than a receiver may want to take: `outputs_ref` says where they are. */
  readonly outputs: Json;
  readonly outputs_ref?: string;
  readonly costs: {
    readonly total_usd: number;
    /** Something was used whose price is unknown: the total is a lower bound. */
    readonly unpriced?: true;
    readonly breakdown: readonly StepCost[];
  };
  readonly duration_seconds: number;
  readonly error?: ErrorDescription;
  readonly timestamp: string;
}

interface StepCost {
  readonly step_id: string;
  /** Over all its instances. Null: the price is unknown. */
  readonly cost_usd: number | null;
}

/** Web servers and gateways refuse bodies from about here on. */
const MAX_OUTPUTS_BYTES = 1_048_576;

/** The same text whenever it is asked for: everything in it is on record with the end. */
export async function describeEnd(reading: RunReading, event: string): Promise<EndDescription> {
  const head = await describeHead(reading);
  const { record, history } = reading;
  const endedAt = history.finishedAt ?? record.completedAt ?? record.createdAt;
  const isLarge = Buffer.byteLength(JSON.stringify(head.outputs)) > MAX_OUTPUTS_BYTES;
  return {
    event,
    run_id: head.run_id,
    workflow: head.workflow_name,
    status: head.status,
    ...(isLarge ? { outputs: null, outputs_ref: `/runs/${head.run_id}?prompts=false` } : { outputs: head.outputs }),
    costs: { total_usd: head.total_cost_usd, unpriced: head.unpriced, breakdown: breakDown(reading) },
    duration_seconds: (endedAt - (history.state.startedAt ?? record.createdAt)) / 1_000,
    ...(head.error === null ? {} : { error: head.error }),
    timestamp: toIsoTime(endedAt),
  };
}

/** By step, in the order in which they began; those that have cost nothing are left out. */
function breakDown({ history }: RunReading): readonly StepCost[] {
  const sums = new Map<string, { micro: number; unpriced: boolean }>();
  for (const { path, costMicro, unpriced } of history.steps.values()) {
    if (costMicro === 0 && !unpriced) continue;
    const id = path.replaceAll(/\[\d+\]|#\d+/g, "");
    const sum = sums.get(id) ?? { micro: 0, unpriced: false };
    sums.set(id, { micro: sum.micro + costMicro, unpriced: sum.unpriced || unpriced });
  }
  return [...sums].map(([step_id, { micro, unpriced }]) => ({
    step_id,
    cost_usd: unpriced ? null : toUsd(micro),
  }));
}
