import type { Json, JsonObject } from "../../../core/json.ts";
import type { EventRow, RunRecord } from "../../../ports/journal.ts";
import type { LimitDescription } from "../../limits/use-limits.ts";
import type { RunSummary, StepDescription } from "../run-schemas.ts";

/** A change that a follower of a run is told. Changes with an id can be asked for again; `status` tells the present. */
export type StreamedChange =
  | { readonly event: "status"; readonly data: RunNow }
  | { readonly event: "step"; readonly id: string; readonly data: StepNow }
  | { readonly event: "progress" | "live"; readonly data: StepProgress }
  /** An event of the journal, for followers who ask for these. */
  | { readonly event: "event"; readonly id: string; readonly data: EventRow }
  /** A limit is near (80 %) or used up: told once for each. */
  | { readonly event: "limit"; readonly id: string; readonly data: LimitDescription & { readonly budget_id?: string } }
  | { readonly event: "error"; readonly id: string; readonly data: { readonly code: string; readonly message: string } }
  | { readonly event: "result"; readonly id: string; readonly data: RunResultNow }
  | { readonly event: "end"; readonly id: string; readonly data: { readonly run_id: string } };

export interface RunNow extends Pick<RunSummary, "run_id" | "status" | "total_cost_usd" | "cost_usd_at_most"> {
  /** It has ended, or only a person or an event from outside makes it go on. */
  readonly at_rest: boolean;
}

type ToldOfStep = "step_id" | "path" | "parallel_index" | "status" | "attempt" | "duration_seconds";

export interface StepNow extends Pick<StepDescription, ToldOfStep | "cost_usd" | "cost_usd_at_most"> {
  readonly error?: { readonly code: string; readonly message: string };
}

interface StepProgress {
  readonly path: string;
  readonly attempt: number;
  readonly event: Json;
}

interface RunResultNow extends Omit<RunNow, "at_rest"> {
  /** Null where they are larger than 64 kB: `outputs_ref` says where they are. */
  readonly outputs: Json;
  readonly outputs_ref?: string;
  readonly error: JsonObject | null;
}

/** Changes that can be asked for again. */
export type NumberedChange = Extract<StreamedChange, { readonly id: string }>;

export type ProgressChange = Extract<StreamedChange, { readonly event: "progress" | "live" }>;

/** The place of a change in a run's stream: the event before it, and its number among the changes of that event. */
interface Position {
  readonly seq: number;
  readonly n: number;
}

/** Behind everything else that one event can cause. */
export const RESULT_FROM = 1_000_000;

/** The id of the last change of a run that has ended. */
export function endIdOf({ lastSeq }: Pick<RunRecord, "lastSeq">): string {
  return `${lastSeq}.${RESULT_FROM + 2}`;
}

/**
 * The number of an event alone means everything that it has caused. An unknown id means the beginning: a change told twice is
 * better than one that is lost.
 */
export function parseId(id: string | undefined): Position {
  const [, seq, n] = /^(\d{1,12})(?:\.(\d{1,12}))?$/.exec(id ?? "") ?? [];
  if (seq === undefined) return { seq: 0, n: -1 };
  return { seq: Number(seq), n: n === undefined ? Number.POSITIVE_INFINITY : Number(n) };
}

export function isBehind(change: { readonly id: string }, { seq, n }: Position): boolean {
  const at = parseId(change.id);
  return at.seq > seq || (at.seq === seq && at.n > n);
}
