import type { OpenApplication } from "../../../operations/application/application.ts";
import { describeRun } from "../../../operations/runs/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { readRunEvents } from "../../../operations/runs/read-run-events.ts";
import type { RunDescription } from "../../../operations/runs/run-schemas.ts";
import { listArtifacts } from "../../../operations/storage/list-artifacts.ts";
import type { StoredFile } from "../../../operations/storage/stored-files.ts";
import { toArtifactFolder } from "../../../ports/artifact-folder.ts";
import type { EventRow } from "../../../ports/journal.ts";
import { type CommonOptions, formatOf, pageOptions, paintFor } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";
import { io } from "../process-io.ts";

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
