import { isDeepStrictEqual } from "node:util";
import type { Check, Observation, ObservedSchedule, Violation } from "../observation.ts";
import { faultForRequest } from "./fault-times.ts";

const MINUTE_MS = 60_000;

/** Messages that no receiver has taken, by the run whose they are. */
export function findUntold({ webhooks, accepted }: Pick<Observation, "webhooks" | "accepted">): readonly Untold[] {
  const told = new Set(webhooks.filter(({ refused }) => !refused).map(({ body }) => messageOf(body)));
  return accepted.flatMap(({ runId, shape }) => {
    const wanted = shape === "gate" ? [`end ${runId}`, `approval.requested ${runId}`] : [`end ${runId}`];
    return wanted.filter((message) => !told.has(message)).map((message) => ({ runId, message }));
  });
}

interface Untold {
  readonly runId: string;
  readonly message: string;
}

function messageOf(body: string): string {
  const { event, run_id: runId } = JSON.parse(body) as { readonly event: string; readonly run_id: string };
  return `${event.startsWith("workflow.") ? "end" : event} ${runId}`;
}

/** Each end, and each question, is told at least once, always under the same id and with the same words. */
export const checkWebhooks: Check = ({ webhooks, runs, accepted }) => {
  const violations: Violation[] = [];
  const report = (what: string) => violations.push({ check: "webhooks", what });
  const told = Map.groupBy(webhooks, ({ body }) => messageOf(body));
  const ended = new Set(runs.filter(({ status }) => status !== "running").map(({ runId }) => runId));
  for (const { runId, message } of findUntold({ webhooks, accepted }))
    if (ended.has(runId)) report(`Nobody was told: ${message}.`);
  for (const [message, received] of told) {
    const ids = new Set(received.map(({ id }) => id));
    if (ids.size > 1) report(`${message} has several ids: ${[...ids]}.`);
    if (new Set(received.map(({ body }) => body)).size > 1) report(`${message} was told in different words.`);
    if (!accepted.some(({ runId }) => message.endsWith(runId)))
      report(`Told of a run that nobody has accepted: ${message}.`);
  }
  return violations;
};

/** Each minute is there once, and has a run of its own that has completed. */
export const checkSchedules: Check = ({ schedules, runs }) => {
  const completed = new Set(runs.filter(({ status }) => status === "completed").map(({ runId }) => runId));
  return schedules.flatMap((schedule) => checkSchedule(schedule, completed));
};

function checkSchedule({ id, first, last, slots }: ObservedSchedule, completed: ReadonlySet<string>): Violation[] {
  const violations: Violation[] = [];
  const report = (what: string) => violations.push({ check: "schedules", what: `Schedule ${id}: ${what}` });
  const bySlot = Map.groupBy(slots, ({ slot }) => slot);
  for (let slot = first; slot <= last; slot += MINUTE_MS)
    if (!bySlot.has(slot)) report(`the slot ${new Date(slot).toISOString()} is lost.`);
  for (const [slot, records] of bySlot) {
    const time = new Date(slot).toISOString();
    if (records.length > 1) report(`the slot ${time} is there ${records.length} times.`);
    // One that came while everything was looked at may still be at work.
    if (slot > last) continue;
    for (const { runId, state } of records)
      if (runId === null || !completed.has(runId))
        report(`the slot ${time} is ${state}, and its run ${runId} not completed.`);
  }
  const runIds = slots.map(({ runId }) => runId);
  if (new Set(runIds).size < runIds.length) report("two slots have the same run.");
  return violations;
}

/** What a provider would bill is within the limit, and nothing of it is missing in the books. */
export const checkBudget: Check = ({ budget: { limitMicro, billedMicro, notedMicro } }) => {
  const violations: Violation[] = [];
  const facts = `limit ${limitMicro}, billed ${billedMicro}, noted ${notedMicro} micro-dollars`;
  if (billedMicro > limitMicro) violations.push({ check: "budgets", what: `More was billed than allowed: ${facts}.` });
  if (notedMicro < billedMicro) violations.push({ check: "budgets", what: `Not all is in the books: ${facts}.` });
  return violations;
};

/** Who sends again on refused connections alone sees no request fail, unless a fault was in its way. */
export const checkRequests: Check = (seen) => [
  ...seen.complaints.map((what) => ({ check: "requests", what })),
  ...seen.failedRequests
    .filter(({ process, ...span }) => faultForRequest(seen, process, span) === undefined)
    .map(({ process, what }) => ({ check: "requests", what: `${process} failed without a fault: ${what}.` })),
];

/** Undisturbed, nothing is done twice. */
export const checkUndisturbed: Check = (seen: Observation) => {
  if (seen.faults.length > 0) return [];
  const interrupted = seen.runs.filter(({ events }) => events.some(({ event }) => event.type === "stepInterrupted"));
  const ids = interrupted.map(({ runId }) => runId);
  return isDeepStrictEqual(ids, []) ? [] : [{ check: "undisturbed", what: `Steps of ${ids} were interrupted.` }];
};
