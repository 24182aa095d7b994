import type { Event } from "../core/history/events.ts";

/** Observes the runs of this process after each commit, in the order of each run. What it throws is reported and harms no run. */
export interface RunObserver {
  committed(run: ObservedRun, events: readonly ObservedEvent[]): void;
  /** A call inside an attempt is over. Nothing of it may be on record yet, or ever. */
  called?(run: ObservedRun, call: ObservedCall): void;
}

export interface ObservedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly tenantId?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** So far, in integer micro-dollars. */
  readonly costMicro: number;
  /** What calls may have cost beside it whose cost is not known. Null: unknown how much. */
  readonly uncertainMicro: number | null;
  readonly trace: RunTrace;
}

/** The ids of a run in a trace. They follow from the run's id, so that every process that continues it uses the same. */
export interface RunTrace {
  readonly traceId: string;
  /** The span of the request for the run. */
  readonly parentSpanId: string | undefined;
  readonly spanId: string;
  attemptSpanId(path: string, attempt: number): string;
}

export interface ObservedEvent {
  readonly seq: number;
  readonly event: Event;
  /** The executor of a task, with its outcome. */
  readonly executor?: string | undefined;
}

/** A call of a model or of a tool. Neither what was asked nor what was answered is told. */
export interface WorkCall {
  readonly kind: "model" | "tool";
  /** `provider:model`, or the tool's name. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Absent: it succeeded. */
  readonly errorCode?: string | undefined;
  /** The model that answered, in the provider's words. */
  readonly answeredBy?: string | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** The model's id for the call of a tool. */
  readonly callId?: string | undefined;
}

export interface ObservedCall extends WorkCall {
  readonly path: string;
  readonly attempt: number;
}
