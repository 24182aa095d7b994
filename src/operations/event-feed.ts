import { toIsoTime } from "../core/iso-time.ts";
import type { JsonObject } from "../core/json.ts";
import type { ObservedEvent, ObservedRun, RunObserver } from "../ports/run-observer.ts";
import { EventRing } from "./event-ring.ts";
import { toUsd } from "./micro-dollars.ts";
import { showLimit } from "./use-limits.ts";

/** What has happened in some run. */
export interface FedEvent {
  readonly event: string;
  readonly data: JsonObject;
}

const KEPT = 10_000;
const KEPT_OF_TENANT = 1_000;

/**
 * What happens in all runs of this process, for those who follow it: the latest events in memory, everybody's, and of each
 * tenant its own with numbers of their own, so that not even a gap tells of others. Nothing is kept before somebody follows:
 * until then nobody has an id to go on from. What is needed for longer is in the journal.
 */
export class EventFeed implements RunObserver {
  /** Tells the numbers of this process from those of the one before. */
  readonly epoch: string;
  /** By tenant; everybody's under undefined. */
  readonly #rings = new Map<string | undefined, EventRing<FedEvent>>();

  constructor(epoch: string) {
    this.epoch = epoch;
  }

  /** Filled from now on. */
  ringOf(tenantId: string | undefined): EventRing<FedEvent> {
    const ring = this.#rings.get(tenantId) ?? new EventRing<FedEvent>(tenantId === undefined ? KEPT : KEPT_OF_TENANT);
    this.#rings.set(tenantId, ring);
    return ring;
  }

  committed(run: ObservedRun, events: readonly ObservedEvent[]): void {
    const all = this.#rings.get(undefined);
    const own = run.tenantId === undefined ? undefined : this.#rings.get(run.tenantId);
    if (all === undefined && own === undefined) return;
    for (const observed of events) {
      const told = describe(run, observed);
      if (told === undefined) continue;
      all?.add(told);
      own?.add(told);
    }
  }
}

/** Undefined: that is of interest inside the run only. Neither inputs nor prompts nor outputs are told. */
function describe({ runId, workflow, tenantId }: ObservedRun, { seq, event }: ObservedEvent): FedEvent | undefined {
  const told = (name: string, more: JsonObject = {}): FedEvent => ({
    event: name,
    data: {
      run_id: runId,
      workflow_name: workflow,
      tenant_id: tenantId ?? null,
      seq,
      at: toIsoTime(event.at),
      ...("path" in event ? { path: event.path } : {}),
      ...("attempt" in event && event.attempt !== undefined ? { attempt: event.attempt } : {}),
      ...more,
    },
  });
  switch (event.type) {
    case "runStarted":
      return told("run.started");
    case "runFinished": {
      const { status, code, message } = event;
      return told("run.finished", { status, error: code === undefined ? null : { code, message: message ?? code } });
    }
    case "cancelRequested":
      return told("run.cancel_requested");
    case "runHeld":
      return told("run.held");
    case "runResumed":
      return told("run.resumed");
    case "stepStarted":
      return told("step.started");
    case "stepSucceeded":
      return told("step.completed", { ...costOf(event), reused: event.reused !== undefined });
    case "stepFailed":
      return told("step.failed", { ...costOf(event), error: { code: event.code, message: event.message } });
    case "stepInterrupted":
      return told("step.interrupted", { cause: event.cause });
    case "waitBegun":
      return told("step.waiting");
    case "approvalAsked":
      return told("approval.requested", {
        approval_id: `${runId}:${event.path}${event.attempt === undefined ? "" : `@${seq}`}`,
        message: event.message,
      });
    case "approvalAnswered":
      return told("approval.answered", { answer: event.answer });
    case "signalReceived":
      return told("signal.received", { name: event.name });
    case "limitNeared":
      return told("budget.warning", { budget_id: event.budget, limit: { ...showLimit(event) } });
    case "limitRaised":
      return told("limit.raised");
    case "budgetExhausted":
      return told("budget.exhausted", { message: event.message });
    case "stepHeld":
    case "stepProjected":
    case "stepRecorded":
    case "stepLogged":
    case "costReported":
    case "callResolved":
    case "timerFired":
      return undefined;
  }
}

function costOf({ at, startedAt, costMicro = 0, unpriced = false }: Attempted): JsonObject {
  return {
    cost_usd: unpriced ? null : toUsd(costMicro),
    duration_seconds: startedAt === undefined ? null : (at - startedAt) / 1_000,
  };
}

interface Attempted {
  readonly at: number;
  readonly startedAt?: number;
  readonly costMicro?: number;
  readonly unpriced?: boolean;
}
