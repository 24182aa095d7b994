import type { PolicyDecision } from "../../../../core/graph/policy.ts";
import { answeredBy, type Event } from "../../../../core/history/events.ts";
import { toIsoTime } from "../../../../core/iso-time.ts";
import type { EventRow } from "../../../../ports/journal.ts";
import { formatUsd } from "../text/formats.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";

/** One line of `pawl runs events`: number, time, what, where, and what matters of it. */
export function renderEvent({ seq, event }: EventRow, paint: Paint): string {
  const path = "path" in event ? sanitize(event.path) : "";
  const number = "attempt" in event ? (event.attempt ?? 1) : 1;
  const attempt = number > 1 ? ` try ${number}` : "";
  const detail = sanitize(detailOf(event));
  const what = event.type === "stepFailed" ? paint("red", event.type) : event.type;
  const parts = [String(seq).padStart(5), paint("dim", toIsoTime(event.at)), what, `${path}${attempt}`, detail];
  return parts.filter((part) => part !== "").join("  ");
}

function detailOf(event: Event): string {
  switch (event.type) {
    case "runStarted":
      return event.workflow;
    case "stepSucceeded":
      return [costOf(event), event.reused === undefined ? "" : `taken over from ${event.reused.run}`, policiesOf(event)]
        .filter((part) => part !== "")
        .join(" ");
    case "stepFailed":
      return `${event.code} ${event.message} ${costOf(event)} ${policiesOf(event)}`.trimEnd();
    case "stepInterrupted":
      return `${event.cause}${event.holds === true ? " held" : ""} ${event.reason ?? ""}`.trimEnd();
    case "costReserved":
      return event.atMostMicro === undefined ? "" : `at most ${formatUsd(event.atMostMicro / 1_000_000)}`;
    case "costReported":
      return event.uncertain === true ? "its cost is unknown" : costOf(event);
    case "stepRecorded":
      return event.key;
    case "callResolved":
      return event.workflow;
    case "waitBegun":
      return event.signal ?? (event.until === undefined ? "" : `until ${toIsoTime(event.until)}`);
    case "approvalAsked":
      return event.attempt === undefined ? event.message : `${event.message} ${costOf(event)}`;
    case "approvalAnswered":
      return [event.answer, answeredBy(event) ?? "", event.comment ?? ""].join(" ");
    case "approvalCounted":
      return [answeredBy(event) ?? "", event.comment ?? ""].join(" ");
    case "timerFired":
      return event.timer;
    case "signalReceived":
      return event.name;
    case "cancelRequested":
      return [event.by ?? "", event.reason ?? ""].join(" ");
    case "runFinished":
      return [event.status, event.code ?? "", event.message ?? ""].join(" ");
    case "budgetExhausted":
      return event.message;
    case "limitRaised":
      return Object.entries(event.by)
        .map(([of, by]) => `${of} +${by}`)
        .join(" ");
    case "limitNeared":
      return `${event.budget} ${event.of} ${event.used}/${event.limit}`;
    case "stepHeld":
    case "runHeld":
    case "runResumed":
    case "placeTaken":
    case "stepStarted":
    case "stepProjected":
    case "stepLogged":
      return "";
  }
}

function policiesOf({ policies = [] }: { readonly policies?: readonly PolicyDecision[] }): string {
  return policies.map(({ policy, action }) => `${action} by ${policy}`).join(", ");
}

function costOf({ costMicro, unpriced = false }: { readonly costMicro?: number; readonly unpriced?: boolean }): string {
  return costMicro === undefined && !unpriced ? "" : formatUsd((costMicro ?? 0) / 1_000_000, { unpriced });
}
