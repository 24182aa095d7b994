import type { AppHost } from "../../../operations/application/application.ts";
import { prepareDeadLetterRetry } from "../../../operations/dead-letters/retry-dead-letter.ts";
import { type CommandParts, type CommonOptions, formatOf } from "../cli-context.ts";
import { driveRun } from "../drive-run.ts";
import { tell } from "../print.ts";

/** `pawl dead-letter retry`: a rerun from there, followed to its end. */
export async function driveDeadLetterRetry(
  { app, voice }: CommandParts,
  { id }: { readonly id: string },
  options: CommonOptions,
): Promise<number> {
  const retry = await prepareDeadLetterRetry(app, id);
  const { start, notices } = retry.prepared;
  for (const notice of notices) tell(notice);
  const begin = (host: AppHost) => retry.begin(() => host.startRun(start));
  const run = { runId: start.runId, graph: start.definition.graph, format: formatOf(options), begin };
  return (await driveRun(app, run, voice)).exitCode;
}
