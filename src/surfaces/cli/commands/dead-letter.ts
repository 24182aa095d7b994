import type { AppHost, OpenApplication } from "../../../operations/application/application.ts";
import {
  type DeadLetter,
  type DeadLetterList,
  listDeadLetters,
} from "../../../operations/dead-letters/list-dead-letters.ts";
import { resolveDeadLetter } from "../../../operations/dead-letters/resolve-dead-letter.ts";
import { prepareDeadLetterRetry } from "../../../operations/dead-letters/retry-dead-letter.ts";
import { type CommandParts, type CommonOptions, formatOf, pageOptions } from "../cli-context.ts";
import { driveRun } from "../drive-run.ts";
import { print, printEnvelope, tell } from "../print.ts";

export interface DeadLettersOptions extends CommonOptions {
  readonly all?: true;
  readonly workflow?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** `pawl dead-letter ls`: those that are open. */
export async function listDeadLettersCommand(app: OpenApplication, options: DeadLettersOptions): Promise<number> {
  const { all, workflow, limit, cursor } = options;
  const list = await listDeadLetters(app, { limit, ...(all === true ? {} : { status: "open" }), workflow, cursor });
  return showDeadLetters(list, options);
}

export async function showDeadLetters(list: DeadLetterList, options: CommonOptions): Promise<number> {
  if (formatOf(options) !== "text") printEnvelope(list);
  else {
    const { renderDeadLetters } = await import("../render/render-dead-letters.ts");
    print(renderDeadLetters(list.items, pageOptions()));
    if (list.next_cursor !== null) tell(`There are more: --cursor ${list.next_cursor}`);
  }
  return 0;
}

/** `pawl dead-letter retry`: a rerun from there, followed to its end. */
export async function retryDeadLetter(
  { app, voice }: CommandParts,
  id: string,
  options: CommonOptions,
): Promise<number> {
  const retry = await prepareDeadLetterRetry(app, id);
  const { start, notices } = retry.prepared;
  for (const notice of notices) tell(notice);
  const begin = (host: AppHost) => retry.begin(() => host.startRun(start));
  const run = { runId: start.runId, graph: start.definition.graph, format: formatOf(options), begin };
  return (await driveRun(app, run, voice)).exitCode;
}

export interface ResolveOptions extends CommonOptions {
  readonly note?: string;
}

/** `pawl dead-letter resolve`. */
export async function resolveDeadLetterCommand(
  app: OpenApplication,
  id: string,
  options: ResolveOptions,
): Promise<number> {
  return showResolved(await resolveDeadLetter(app, id, options.note), options);
}

export function showResolved(letter: DeadLetter, options: CommonOptions): number {
  if (formatOf(options) !== "text") printEnvelope(letter);
  else tell(`Resolved. The run stays as it ended; see it with: pawl runs show ${letter.run_id}`);
  return 0;
}
