import type { FaultKind } from "../../faults/fault-plan.ts";
import type { Observation, PerformedFault, Span } from "../observation.ts";

/** What a fault has begun may come to light so much later. */
const AFTERMATH_MS = 10_000;

/** A restart by SIGTERM, duplicate jobs and a worker that dies are no reason for a request to fail. */
const SPARES_REQUESTS: ReadonlySet<FaultKind> = new Set(["restart", "notify"]);

export function faultBetween({ faults }: Observation, { at, until }: Span): PerformedFault | undefined {
  return faults.find(({ fault, ...span }) => fault.kind !== "notify" && span.at <= until && span.until >= at);
}

/** Whether what happened at this time may be a late result of a fault. */
export function isAftermath(seen: Observation, at: number): boolean {
  return faultBetween(seen, { at: at - AFTERMATH_MS, until: at }) !== undefined;
}

export function faultForRequest({ faults }: Observation, process: string, { at, until }: Span) {
  return faults.find(
    ({ fault, ...span }) =>
      !SPARES_REQUESTS.has(fault.kind) &&
      // A process that dies takes its own requests along, and those alone.
      (fault.kind !== "kill" || fault.process === process) &&
      span.at <= until &&
      span.until + AFTERMATH_MS >= at,
  );
}

/** How much of a span lies in others. */
export function overlapMs({ at, until }: Span, spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + Math.max(0, Math.min(until, span.until) - Math.max(at, span.at)), 0);
}

/** The same time, with nothing of it twice. */
export function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const merged: { at: number; until: number }[] = [];
  for (const { at, until } of spans.toSorted((a, b) => a.at - b.at)) {
    const last = merged.at(-1);
    if (last !== undefined && at <= last.until) last.until = Math.max(last.until, until);
    else merged.push({ at, until });
  }
  return merged;
}
