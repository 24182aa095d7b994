import type { JsonObject } from "../../../src/core/json.ts";
import type { Fault } from "../faults/fault-plan.ts";
import type { FailedRequest } from "../workload/client.ts";
import type { AcceptedRun } from "../workload/workload.ts";
import type { Effect } from "../world/effect-log.ts";
import type { ReceivedWebhook } from "../world/start-world.ts";

/** All that is known from outside when everything is over. The checks read nothing else. */
export interface Observation {
  readonly leaseMs: number;
  readonly faults: readonly PerformedFault[];
  readonly accepted: readonly AcceptedRun[];
  /** As the API shows them, those of schedules too. */
  readonly runs: readonly ObservedRun[];
  readonly effects: readonly Effect[];
  readonly webhooks: readonly ReceivedWebhook[];
  readonly schedules: readonly ObservedSchedule[];
  readonly budget: { readonly limitMicro: number; readonly billedMicro: number; readonly notedMicro: number };
  readonly failedRequests: readonly FailedRequest[];
  /** What was refused to clients that should have been taken, and ends of processes that nobody has caused. */
  readonly complaints: readonly string[];
  /** Runs that nobody was responsible for, with for how long, in milliseconds. */
  readonly unattended: readonly { readonly runId: string; readonly at: number; readonly forMs: number }[];
  /** When no process that drives runs was there, in parts. */
  readonly idle: readonly Span[];
}

export interface Span {
  readonly at: number;
  readonly until: number;
}

export interface PerformedFault extends Span {
  readonly fault: Fault;
}

export interface ObservedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly status: string;
  readonly outputs: JsonObject;
  readonly events: readonly { readonly seq: number; readonly event: ObservedEvent }[];
}

/** What the checks read of an event of the journal. */
export interface ObservedEvent {
  readonly type: string;
  readonly at: number;
  readonly path?: string;
  readonly cause?: string;
  readonly code?: string;
  readonly diedAt?: number;
}

export interface ObservedSchedule {
  readonly id: string;
  /** Of the first slot and the last one that must be there, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  readonly slots: readonly { readonly slot: number; readonly state: string; readonly runId: string | null }[];
}

export interface Violation {
  /** The name of the check. */
  readonly check: string;
  readonly what: string;
}

export type Check = (seen: Observation) => readonly Violation[];
