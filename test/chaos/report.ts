import { countRepeated } from "./checker/checks/effects.ts";
import { takeOvers } from "./checker/checks/take-over.ts";
import type { Observation, Violation } from "./checker/observation.ts";

export interface Report {
  readonly seed: number;
  readonly minutes: number;
  readonly runs: number;
  readonly steps: number;
  readonly effects: number;
  readonly repeated_effects: number;
  readonly webhooks: number;
  readonly slots: number;
  readonly requests: number;
  readonly requests_sent_again: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly take_overs: number;
  readonly longest_take_over_ms: number;
  readonly refused_for_budget: number;
  readonly violations: readonly Violation[];
}

interface Circumstances {
  readonly seed: number;
  readonly minutes: number;
  readonly requests: number;
  readonly refused: number;
}

export function makeReport(seen: Observation, violations: readonly Violation[], about: Circumstances): Report {
  const faults: Record<string, number> = {};
  for (const { fault } of seen.faults) {
    const kind = fault.kind === "store" ? `store: ${fault.how}` : fault.kind;
    faults[kind] = (faults[kind] ?? 0) + 1;
    if (fault.kind === "kill" && fault.clockOffsetMs !== 0) faults["clock"] = (faults["clock"] ?? 0) + 1;
  }
  const taken = takeOvers(seen);
  const done = seen.runs.flatMap(({ events }) => events.filter(({ event }) => event.type === "stepSucceeded"));
  return {
    seed: about.seed,
    minutes: about.minutes,
    runs: seen.runs.length,
    steps: done.length,
    effects: seen.effects.length,
    repeated_effects: countRepeated(seen),
    webhooks: seen.webhooks.length,
    slots: seen.schedules.reduce((sum, { slots }) => sum + slots.length, 0),
    requests: about.requests,
    requests_sent_again: seen.failedRequests.length,
    faults,
    take_overs: taken.length,
    longest_take_over_ms: Math.max(0, ...taken.map(({ tookMs }) => tookMs)),
    refused_for_budget: about.refused,
    violations,
  };
}

export function toTable({ violations, faults, ...figures }: Report): string {
  const rows = [
    ...Object.entries(figures),
    ...Object.entries(faults).map(([kind, count]) => [`fault: ${kind}`, count] as const),
    ["violations", violations.length] as const,
  ];
  const lines = rows.map(([name, value]) => `${name.replaceAll("_", " ").padEnd(32)} ${value}`);
  return [...lines, ...violations.map(({ check, what }) => `VIOLATION (${check}) ${what}`)].join("\n");
}
