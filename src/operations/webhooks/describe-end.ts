import { toIsoTime } from "../../core/iso-time.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import { describeHead } from "../runs/describe/describe-run.ts";
import type { RunReading } from "../runs/describe/describe-run-reading.ts";

/** Web servers and gateways refuse bodies from about here on. */
const MAX_OUTPUTS_BYTES = 1_048_576;

/**
 * The webhook about a run's end, the same text whenever it is asked for: everything in it is on record with the end. Outputs are
 * null where they are larger than a receiver may want to take: `outputs_ref` says where they are. With `unpriced` the total is a
 * lower bound.
 */
export async function describeEnd(reading: RunReading, event: string) {
  const head = await describeHead(reading, { mostBytes: MAX_OUTPUTS_BYTES });
  const { record, history } = reading;
  const endedAt = history.finishedAt ?? record.completedAt ?? record.createdAt;
  const { outputs, outputs_ref } = head;
  return {
    event,
    run_id: head.run_id,
    workflow: head.workflow_name,
    status: head.status,
    outputs,
    ...(outputs_ref === undefined ? {} : { outputs_ref }),
    costs: {
      total_usd: head.total_cost_usd,
      at_most_usd: head.cost_usd_at_most,
      unpriced: head.unpriced,
      breakdown: breakDown(reading),
    },
    duration_seconds: (endedAt - (history.state.startedAt ?? record.createdAt)) / 1_000,
    ...(head.error === null ? {} : { error: head.error }),
    timestamp: toIsoTime(endedAt),
  };
}

/** By step, in the order in which they began; those that have cost nothing are left out. Null: the price is unknown. */
function breakDown({ history }: RunReading) {
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
