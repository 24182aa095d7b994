import type { Event } from "../core/history/events.ts";

/**
 * Sees what happens in the runs that this process drives. It is told after the commit, in the order of each run, and waits
 * for nothing; what it throws is a defect of its own and harms no run.
 */
export interface RunObserver {
  committed(run: ObservedRun, events: readonly ObservedEvent[]): void;
}

/** A run as its observers know it. */
export interface ObservedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly tenantId?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** So far, in integer micro-dollars. */
  readonly costMicro: number;
}

export interface ObservedEvent {
  readonly seq: number;
  readonly event: Event;
  /** Of the outcome of a task: who did the work. */
  readonly executor?: string | undefined;
}
