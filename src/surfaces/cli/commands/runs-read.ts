import type { OpenApplication } from "../../../operations/application/application.ts";
import type { OpenApproval } from "../../../operations/approvals/describe-run-approvals.ts";
import { listOpenApprovals } from "../../../operations/approvals/list-open-approvals.ts";
import { describeRun } from "../../../operations/runs/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { listRuns, type RunList } from "../../../operations/runs/list-runs.ts";
import { readRunEvents } from "../../../operations/runs/read-run-events.ts";
import type { RunDescription } from "../../../operations/runs/run-schemas.ts";
import { listArtifacts } from "../../../operations/storage/list-artifacts.ts";
import type { StoredFile } from "../../../operations/storage/stored-files.ts";
import { toArtifactFolder } from "../../../ports/artifact-folder.ts";
import type { EventRow } from "../../../ports/journal.ts";
import { type CommonOptions, formatOf, pageOptions, paintFor } from "../cli-context.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";

export interface ListOptions extends CommonOptions {
  readonly status?: string;
  readonly workflow?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** `pawl runs ls`: newest first. */
export async function listRunsCommand(app: OpenApplication, options: ListOptions): Promise<number> {
  const { status, workflow, limit, cursor } = options;
  const list = await listRuns(app, {
    limit,
    ...(status === undefined ? {} : { status: status.split(",") }),
    workflow,
    cursor,
  });
  return showRunList(list, options);
}

export async function showRunList(list: RunList, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderRuns } = await import("../render/render-runs.ts");
    print(renderRuns(list.items, pageOptions()));
    if (list.next_cursor !== null) tell(`There are more: --cursor ${list.next_cursor}`);
  }
  return 0;
}

export interface ShowOptions extends CommonOptions {
  readonly prompts?: true;
}

/** `pawl runs show`. */
export async function showRun(app: OpenApplication, id: string, options: ShowOptions): Promise<number> {
  const record = await findRun(app, id);
  const isText = formatOf(options) === "text";
  const withPrompts = options.prompts === true || !isText;
  const run = await describeRun(await app.records(), record, { withPrompts });
  return showRunDescription(run, await listArtifacts(app, run.run_id), options);
}

/** Artifacts come with their paths in the run, and are shown with their whole paths, as `pawl storage get` takes them. */
export async function showRunDescription(
  run: RunDescription,
  inRun: readonly StoredFile[],
  options: ShowOptions,
): Promise<number> {
  const artifacts = inRun.map((artifact) => ({ ...artifact, path: toArtifactFolder(run.run_id) + artifact.path }));
  if (formatOf(options) !== "text") printEnvelope({ ...run, artifacts });
  else {
    const { renderRun } = await import("../render/render-run.ts");
    print(renderRun(run, { ...pageOptions(), artifacts, prompts: options.prompts === true }));
  }
  return 0;
}

/** `pawl runs events`: the journal as it is. Without `--json` a line each. */
export async function showEvents(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  return showJournal(readRunEvents(app, id), options);
}

export async function showJournal(events: AsyncIterable<EventRow>, options: CommonOptions): Promise<number> {
  const format = formatOf(options);
  const items: EventRow[] = [];
  const { renderEvent } = await import("../render/render-events.ts");
  const paint = paintFor(io().stdout);
  for await (const { seq, event } of events) {
    if (format === "lines") print(JSON.stringify({ seq, event }));
    else if (format === "json") items.push({ seq, event });
    else print(renderEvent({ seq, event }, paint));
  }
  if (format === "json") printEnvelope({ items, next_cursor: null });
  return 0;
}

/** `pawl approvals ls`. */
export async function listApprovalsCommand(app: OpenApplication, options: CommonOptions): Promise<number> {
  return showApprovals(await listOpenApprovals(app), options);
}

export async function showApprovals(approvals: readonly OpenApproval[], options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope({ items: approvals, next_cursor: null });
  else {
    const { renderApprovals } = await import("../render/render-approvals.ts");
    print(renderApprovals(approvals, pageOptions()));
  }
  return 0;
}
