import type { Application } from "../../operations/application/application.ts";
import { listApprovals, type OpenApproval, placeOf } from "../../operations/approvals/describe-run-approvals.ts";
import { findAwaited } from "../../operations/runs/find-awaited.ts";
import { findRun } from "../../operations/runs/find-run.ts";
import type { RunHead } from "../../operations/runs/run-schemas.ts";
import { tell } from "./print.ts";
import { sanitize } from "./render/sanitize.ts";
import { shortId } from "./short-id.ts";

const MAX_SHOWN = 5;
const MAX_WEBHOOKS = 1_000;

/** What a person has to know after a command has shown a run: open questions, and what is still to be delivered. */
export async function tellWhatRemains(app: Application, run: RunHead): Promise<void> {
  const { run_id: runId } = run;
  if (run.status === "awaiting_approval")
    tellApprovals(runId, await listApprovals(await app.records(), await findRun(app, runId)));
  if (run.status === "waiting") tellEvents(runId, (await findAwaited(app, await findRun(app, runId))).events);
  if (run.completed_at !== null) await tellWebhooks(app, run);
}

type AskedApproval = Pick<OpenApproval, "path" | "key" | "asked" | "message">;

export function tellApprovals(runId: string, approvals: readonly AskedApproval[]): void {
  for (const approval of approvals.slice(0, MAX_SHOWN)) {
    const address = `${shortId(runId)}:${placeOf(approval)}`;
    tell(`The run waits for an answer: ${sanitize(approval.message)}`);
    tell(`  pawl approve ${address}`);
    tell(`  pawl reject ${address}`);
  }
  if (approvals.length > MAX_SHOWN) tell(`  ... and ${approvals.length - MAX_SHOWN} more: pawl approvals ls`);
}

export function tellEvents(runId: string, events: readonly string[]): void {
  if (events.length === 0) tell("The run waits for an event.");
  for (const event of events.slice(0, MAX_SHOWN)) {
    tell(`The run waits for the event ${sanitize(event)}`);
    tell(`  pawl runs signal ${shortId(runId)} ${quote(event)}`);
  }
  if (events.length > MAX_SHOWN) tell(`  ... and ${events.length - MAX_SHOWN} more events.`);
}

/** As a shell takes it for one word. */
function quote(event: string): string {
  return /^[\w:./-]+$/.test(event) ? event : `'${sanitize(event).replaceAll("'", String.raw`'\''`)}'`;
}

async function tellWebhooks(app: Application, { run_id: runId }: RunHead): Promise<void> {
  const { journal } = await app.records();
  const record = await findRun(app, runId);
  const stored = await journal.readOutbox({ kind: "webhook", limit: MAX_WEBHOOKS });
  const count = stored.filter(({ run }) => run === record.no).length;
  if (count === 1) tell("1 webhook is stored and will be delivered by `pawl serve`.");
  if (count > 1) tell(`${count} webhooks are stored and will be delivered by \`pawl serve\`.`);
}
