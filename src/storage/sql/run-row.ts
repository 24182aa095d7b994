import { parseExact } from "../../core/exact-json.ts";
import type { Line, RunNo, RunRecord, RunStatus } from "../../ports/journal.ts";
import { MAX_EVENTS_PER_RUN } from "../append-rule.ts";

type Optional = "wakeAt" | "startedAt" | "completedAt" | "parentRunId" | "tenantId" | "callbackUrl";

/** A row of `runs` as `RUN_COLUMNS` names it. Flags are 0 or 1, `error` is JSON. */
export type RunRow = Omit<RunRecord, Optional | "status" | "parked" | "error" | "uncertainMicro"> & {
  readonly [Name in Optional]: NonNullable<RunRecord[Name]> | null;
} & {
  readonly status: string;
  readonly parked: number;
  readonly error: string | null;
  readonly uncertainMicro: number;
};

/** Stands for an amount that nobody knows. */
const UNKNOWN = -1;

/** Null leaves the column as it is. */
export function toUncertainColumn(micro: number | null | undefined): number | null {
  return micro === null ? UNKNOWN : (micro ?? null);
}

/** A power of two above every sequence number: events are keyed by run * SEQ_RANGE + seq. */
export const SEQ_RANGE = MAX_EVENTS_PER_RUN + 1;

/** The keys between which the events of a run lie, both excluded. */
export function rangeOf(run: RunNo, afterSeq = 0): readonly [number, number] {
  return [run * SEQ_RANGE + afterSeq, (run + 1) * SEQ_RANGE];
}

export const RUN_COLUMNS = `no, id, workflow_name AS "workflow", dialect, graph, definition, status,
  (SELECT coalesce(max(events.id) - no * ${SEQ_RANGE}, 0) FROM events
    WHERE events.id > no * ${SEQ_RANGE} AND events.id < (no + 1) * ${SEQ_RANGE}) AS "lastSeq", parked, wake_at AS "wakeAt", cost_micro AS "costMicro", uncertain_micro AS "uncertainMicro", open_approvals AS "openApprovals", stored_bytes AS "storedBytes", created_at AS "createdAt",
  started_at AS "startedAt", completed_at AS "completedAt", error, parent_run_id AS "parentRunId",
  tenant_id AS "tenantId", callback_url AS "callbackUrl"`;

export function toRunRecord(row: RunRow): RunRecord {
  const { wakeAt, startedAt, completedAt, uncertainMicro, error, parentRunId, tenantId, callbackUrl, ...present } = row;
  return {
    ...present,
    status: present.status as RunStatus,
    parked: present.parked !== 0,
    uncertainMicro: uncertainMicro === UNKNOWN ? null : uncertainMicro,
    ...(wakeAt === null ? {} : { wakeAt }),
    ...(startedAt === null ? {} : { startedAt }),
    ...(completedAt === null ? {} : { completedAt }),
    ...(error === null ? {} : { error: parseExact(error) }),
    ...(parentRunId === null ? {} : { parentRunId }),
    ...(tenantId === null ? {} : { tenantId }),
    ...(callbackUrl === null ? {} : { callbackUrl }),
  };
}

export interface LineRow {
  readonly holder: string | null;
  readonly before: number;
}

export function toLine(rows: readonly LineRow[]): Line | undefined {
  const [row] = rows;
  return row && { holders: rows.flatMap(({ holder }) => holder ?? []), before: row.before };
}
