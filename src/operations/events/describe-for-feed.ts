import { answeredBy } from "../../core/history/events.ts";
import { readTimer } from "../../core/interpreter/timers.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import { nudgeOf } from "../../hosts/session/approvals/approval-webhooks.ts";
import type { LoggedEvent } from "../../ports/journal.ts";
import { toUsd } from "../limits/micro-dollars.ts";
import { showLimit } from "../limits/use-limits.ts";

/** An event of any run, for followers of all runs. */
export interface ToldEvent {
  readonly event: string;
  readonly data: JsonObject;
}

/** Undefined: that is of interest inside the run only. Neither inputs nor prompts nor outputs are told. */
export function describeForFeed({ run, seq, event }: LoggedEvent): ToldEvent | undefined {
  const { id: runId, workflow, tenantId } = run;
  const told = (name: string, more: JsonObject = {}): ToldEvent => ({
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
    case "placeTaken":
      return told("run.place_taken");
    case "stepStarted":
      return told("step.started");
    case "stepSucceeded":
      return told("step.completed", { ...costOf(event), reused: event.reused !== undefined });
    case "stepFailed":
      return told("step.failed", { ...costOf(event), error: { code: event.code, message: event.message } });
    case "stepInterrupted":
      return told(event.holds === true ? "step.held" : "step.interrupted", {
        cause: event.cause,
        ...(event.reason === undefined ? {} : { reason: event.reason }),
      });
    case "waitBegun":
      return told("step.waiting");
    case "approvalAsked":
      return told("approval.requested", {
        approval_id: `${runId}:${event.path}${event.attempt === undefined ? "" : `@${seq}`}`,
        message: event.message,
      });
    case "approvalAnswered":
      return told("approval.answered", { answer: event.answer, by: answeredBy(event) ?? null });
    case "approvalCounted":
      return told("approval.counted", { by: answeredBy(event) ?? null });
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
    case "costReserved":
    case "costReported":
    case "callResolved":
      return undefined;
    case "timerFired": {
      const nudge = nudgeOf(event.timer);
      return nudge && told(nudge, { path: readTimer(event.timer).path });
    }
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
