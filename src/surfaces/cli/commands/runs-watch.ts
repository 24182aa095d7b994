import type { OpenApplication } from "../../../operations/application/application.ts";
import { readPinnedGraph } from "../../../operations/repeat/read-pinned-graph.ts";
import { describeStepLogs } from "../../../operations/runs/describe-run-logs.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { followRun } from "../../../operations/runs/follow-run.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { type CommandParts, type CommonOptions, formatOf } from "../cli-context.ts";
import { driveRun } from "../drive-run.ts";
import { print, tell } from "../print.ts";
import { runExitCode } from "../run-exit-code.ts";
import { shortId } from "../short-id.ts";
import { listenForStop } from "../stop-signals.ts";
import { showRun } from "./runs-read.ts";

const INTERRUPTED = 130;

/** `pawl runs watch`: shows a run that another process drives until it ends. Watching makes nothing go on. */
export async function watchRun({ app, voice }: CommandParts, id: string, options: CommonOptions): Promise<number> {
  const record = await findRun(app, id);
  if (record.completedAt !== undefined || !(await isDriven(app, record))) {
    await showRun(app, record.id, options);
    return runExitCode({
      status: record.status,
      error: record.error === undefined ? null : { ...record.error, remedy: "" },
    });
  }
  const graph = await readPinnedGraph(app, record.graph);
  const run = { runId: record.id, graph, format: formatOf(options), begin: async () => record };
  return (await driveRun(app, run, voice)).exitCode;
}

export interface LogsOptions extends CommonOptions {
  readonly follow?: true;
}

/** `pawl runs logs`: what executors emitted, one JSON object a line; with `--follow` also what they emit from now on. */
export async function showLogs(
  app: OpenApplication,
  { id, step }: { readonly id: string; readonly step: string | undefined },
  { follow }: LogsOptions,
): Promise<number> {
  const record = await findRun(app, id);
  const goesOn = follow === true && record.completedAt === undefined;
  // A step that has not begun has no logs yet.
  const wanted = goesOn ? undefined : step;
  for await (const log of describeStepLogs(await app.records(), record, wanted)) {
    for (const event of log.events) printLog(log, event, step);
  }
  if (!goesOn || !(await isDriven(app, record))) return 0;
  const signals = listenForStop();
  try {
    await followRun(
      app,
      {
        runId: record.id,
        begin: async () => undefined,
        listen: (notice) => {
          if (notice.type === "progress") printLog(notice, notice.event, step);
        },
      },
      signals.stop,
    );
    await app.leave(signals.stop, signals.force);
    return signals.stop.aborted ? INTERRUPTED : 0;
  } finally {
    signals.close();
  }
}

export function printLog(
  { path, attempt }: { readonly path: string; readonly attempt: number },
  event: unknown,
  step: string | undefined,
): void {
  const isWanted = step === undefined || path === step || path.startsWith(`${step}/`) || path.startsWith(`${step}[`);
  if (isWanted) print(JSON.stringify({ path, attempt, event }));
}

async function isDriven(app: OpenApplication, { id }: RunRecord): Promise<boolean> {
  const { state } = await app.findOwner();
  if (state === "free") tell(`No process drives the run. To go on with it: pawl runs resume ${shortId(id)}`);
  return state === "held";
}
