import type { OutputOf } from "pawl/client";

export type Step = OutputOf<"GET /runs/{id}/steps">["items"][number];

const RESTING = {
  retry: "retrying",
  timer: "waiting",
  event: "waiting",
  person: "awaiting_approval",
  held: "held",
} as const;

/** How a step was at a time, in milliseconds since 1970. Undefined: its turn had not come. */
export function statusThen(step: Step, time: number): string | undefined {
  const { queued_at: queued, started_at: started, completed_at: completed, waits } = step;
  if (queued === null || time < Date.parse(queued)) return undefined;
  if (completed !== null && time >= Date.parse(completed)) return step.status;
  const wait = waits.find(
    ({ since, until }) => Date.parse(since) <= time && (until === null || time < Date.parse(until)),
  );
  if (wait !== undefined) return RESTING[wait.kind];
  return started === null || time < Date.parse(started) ? "queued" : "running";
}

/** How long it had gone on by then. */
export function secondsThen({ started_at: started, completed_at: completed }: Step, time: number): number | undefined {
  if (started === null || time < Date.parse(started)) return undefined;
  const end = completed === null ? time : Math.min(time, Date.parse(completed));
  return (end - Date.parse(started)) / 1_000;
}
