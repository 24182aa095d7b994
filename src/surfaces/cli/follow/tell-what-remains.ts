import type { OpenApproval } from "../../../operations/approvals/describe-run-approvals.ts";
import { placeOf } from "../../../operations/approvals/place-of.ts";
import type { RunHead } from "../../../operations/runs/run-schemas.ts";
import { shellWord } from "../../../operations/shell-word.ts";
import type { RunCaller } from "../caller.ts";
import { tell } from "../print.ts";
import { shortId } from "../render/text/formats.ts";
import { sanitize } from "../render/text/sanitize.ts";

const MAX_SHOWN = 5;

/** What a person has to know after a command has shown a run: open questions, and what is still to be delivered. */
export async function tellWhatRemains(caller: RunCaller, run: RunHead): Promise<void> {
  const { run_id: runId, status } = run;
  if (status === "awaiting_approval") {
    const { listApprovals } = await import("../../../operations/approvals/approvals.ts");
    tellApprovals(runId, (await caller.call(listApprovals, { run: runId })).items);
  }
  // The error of a run that is held says what to type.
  if (status === "waiting" && run.error === null) tellEvents(runId, run.awaited_events ?? []);
  if (run.completed_at !== null) tellWebhooks(await caller.countUndelivered(runId));
}

function tellApprovals(runId: string, approvals: readonly OpenApproval[]): void {
  for (const approval of approvals.slice(0, MAX_SHOWN)) {
    const address = `${shortId(runId)}:${placeOf(approval)}`;
    tell(`The run waits for an answer: ${sanitize(approval.message)}`);
    tell(`  pawl approve ${address}`);
    tell(`  pawl reject ${address}`);
  }
  if (approvals.length > MAX_SHOWN) tell(`  ... and ${approvals.length - MAX_SHOWN} more: pawl approvals ls`);
}

function tellEvents(runId: string, events: readonly string[]): void {
  if (events.length === 0) tell("The run waits for an event.");
  for (const event of events.slice(0, MAX_SHOWN)) {
    tell(`The run waits for the event ${sanitize(event)}`);
    tell(`  pawl runs signal ${shortId(runId)} ${shellWord(sanitize(event))}`);
  }
  if (events.length > MAX_SHOWN) tell(`  ... and ${events.length - MAX_SHOWN} more events.`);
}

function tellWebhooks(count: number): void {
  if (count === 1) tell("1 webhook is stored and will be delivered by `pawl serve`.");
  if (count > 1) tell(`${count} webhooks are stored and will be delivered by \`pawl serve\`.`);
}
