import type { Json, JsonObject } from "../core/json.ts";
import type { components } from "./api.ts";

type Run = components["schemas"]["Run"];
type Step = components["schemas"]["Step"];
type Limit = NonNullable<Run["limits"]>[number];

/** What `GET /runs/{id}/stream` tells. What has an id can be asked for again; `status` says how it is now. */
export type RunStreamEvent =
  | { readonly event: "status"; readonly data: RunNow }
  | { readonly event: "step"; readonly id: string; readonly data: StepNow }
  | { readonly event: "limit"; readonly id: string; readonly data: Limit }
  | { readonly event: "progress" | "live"; readonly data: StepProgress }
  /** Of the journal, where that is asked for: its shape is that of the server's version. */
  | { readonly event: "event"; readonly id: string; readonly data: RecordedEvent }
  | { readonly event: "error"; readonly id: string; readonly data: { readonly code: string; readonly message: string } }
  | { readonly event: "result"; readonly id: string; readonly data: RunResult }
  | { readonly event: "end"; readonly id: string; readonly data: { readonly run_id: string } };

interface RecordedEvent {
  readonly seq: number;
  /** With more fields, by its type. */
  readonly event: { readonly type: string; readonly at: number };
}

interface RunNow {
  readonly run_id: string;
  readonly status: Run["status"];
  readonly total_cost_usd: number;
  /** It has ended, or only a person or an event from outside makes it go on. */
  readonly at_rest: boolean;
}

interface StepNow {
  readonly step_id: string;
  readonly path: string;
  readonly parallel_index: number | null;
  readonly status: Step["status"];
  readonly attempt: number;
  readonly cost_usd: number | null;
  readonly duration_seconds: number | null;
  readonly error?: { readonly code: string; readonly message: string };
}

interface StepProgress {
  readonly path: string;
  readonly attempt: number;
  readonly event: Json;
}

interface RunResult extends Omit<RunNow, "at_rest"> {
  /** Null where they are larger than 64 kB: `outputs_ref` says where they are. */
  readonly outputs: Json;
  readonly outputs_ref?: string;
  readonly error: JsonObject | null;
}
