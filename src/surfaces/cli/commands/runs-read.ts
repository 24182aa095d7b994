import type { OpenApplication } from "../../../operations/application.ts";
import { describeRun } from "../../../operations/describe-run.ts";
import { describeStepLogs } from "../../../operations/describe-run-logs.ts";
import { findRun } from "../../../operations/find-run.ts";
import { listArtifacts } from "../../../operations/list-artifacts.ts";
import { listOpenApprovals } from "../../../operations/list-open-approvals.ts";
import { listRuns } from "../../../operations/list-runs.ts";
import { readRunEvents } from "../../../operations/read-run-events.ts";
import { toArtifactFolder } from "../../../ports/artifact-folder.ts";
import type { EventRow } from "../../../ports/journal.ts";
import { type CommonOptions, formatOf, pageOptions, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

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
    ...(workflow === undefined ? {} : { workflow }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderRuns } = await import("../render/render-runs.ts");
    print(renderRuns(list.items, pageOptions()));
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
  // With their whole paths, as `pawl storage get` takes them.
  const artifacts = (await listArtifacts(app, run.run_id)).map((artifact) => ({
    ...artifact,
    path: toArtifactFolder(run.run_id) + artifact.path,
  }));
  if (!isText) printEnvelope({ ...run, artifacts });
  else {
    const { renderRun } = await import("../render/render-run.ts");
    print(renderRun(run, { ...pageOptions(), artifacts, prompts: options.prompts === true }));
  }
  return 0;
}

/** `pawl runs events`: the journal as it is. Without `--json` a line each. */
export async function showEvents(app: OpenApplication, id: string, options: CommonOptions): Promise<number> {
  const format = formatOf(options);
  const items: EventRow[] = [];
  const { renderEvent } = await import("../render/render-events.ts");
  const paint = paintFor(process.stdout);
  for await (const { seq, event } of readRunEvents(app, id)) {
    if (format === "lines") print(JSON.stringify({ seq, event }));
    else if (format === "json") items.push({ seq, event });
    else print(renderEvent({ seq, event }, paint));
  }
  if (format === "json") printEnvelope({ items, next_cursor: null });
  return 0;
}

/** `pawl runs logs`: what executors emitted, one JSON object a line. */
export async function showLogs(app: OpenApplication, id: string, step: string | undefined): Promise<number> {
  const record = await findRun(app, id);
  for await (const log of describeStepLogs(await app.records(), record, step)) {
    for (const event of log.events) print(JSON.stringify({ path: log.path, attempt: log.attempt, event }));
  }
  return 0;
}

/** `pawl approvals ls`. */
export async function listApprovalsCommand(app: OpenApplication, options: CommonOptions): Promise<number> {
  const approvals = await listOpenApprovals(app);
  if (formatOf(options) !== "text") printEnvelope({ items: approvals, next_cursor: null });
  else {
    const { renderApprovals } = await import("../render/render-approvals.ts");
    print(renderApprovals(approvals, pageOptions()));
  }
  return 0;
}
